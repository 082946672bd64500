# a formatted string, which would have to be executed
n = 4
b: Scalar[INT32] = system.reserve_buffer(name=f"ring_{n}", size=4096, base=-1)
