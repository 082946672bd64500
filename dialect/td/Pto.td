//===- Pto.td - the whole dialect -*- tablegen -*-===//

include "Base.td"
include "Enums.td"
include "Types.td"
include "Memory.td"
include "Pipe.td"
include "Sync.td"
include "Elementwise.td"
include "Reduce.td"
include "Move.td"
include "Matrix.td"
include "Irregular.td"
