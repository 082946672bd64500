//! The operations on tiles that programs may use: one row each, for every pass of the front-end and for the lowering.
//!
//! `memory`, `not_inplace` and `no_alias` are what PyPTO registers for the operation: where the result's bytes come
//! from, and which arguments it may not share them with. `pto` and the columns after it say how a regular operation is
//! written in the dialect; an empty `pto` means that `lower` has code of its own for it.

/// Where a result's bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Bytes of its own.
    Own,
    /// All bytes of argument 0: the same bytes seen differently.
    View,
    /// Some bytes of argument 0.
    Slice,
    /// The bytes of an argument, which the operation writes in place.
    Reuses(usize),
    /// The slot of a queue: the pop says where.
    Popped,
    /// No memory on the chip.
    None,
}

/// How the value of a keyword argument becomes an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// A case of an enumeration of the dialect, by number or name.
    Case {
        /// The enumeration.
        of: &'static str,
        /// Its cases in the front-end's order.
        cases: &'static [&'static str],
    },
    /// True or false.
    Bool,
}

/// An attribute that a keyword argument gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttrRule {
    /// The keyword argument.
    pub kwarg: &'static str,
    /// The attribute.
    pub attribute: &'static str,
    /// How.
    pub kind: AttrKind,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct FrontOp {
    /// Its name (`tile.add`).
    pub name: &'static str,
    /// Where the result's bytes come from.
    pub memory: Memory,
    /// Whether the result may share bytes with no argument.
    pub not_inplace: bool,
    /// Arguments with which the result may not share bytes.
    pub no_alias: &'static [usize],
    /// Arguments whose bytes are changed (`Memory::Reuses` apart).
    pub writes: &'static [usize],
    /// The operation of the dialect without `pto.`; empty when the lowering is special.
    pub pto: &'static str,
    /// Which operand of the dialect's operation each argument is, `_` for none; empty: in order.
    pub operands: &'static str,
    /// Which keyword arguments are attributes.
    pub attrs: &'static [AttrRule],
}

const PLAIN: FrontOp = FrontOp {
    name: "",
    memory: Memory::Own,
    not_inplace: false,
    no_alias: &[],
    writes: &[],
    pto: "",
    operands: "",
    attrs: &[],
};

/// A result with bytes of its own, a regular operation of the dialect.
const fn own(name: &'static str, pto: &'static str) -> FrontOp {
    FrontOp { name, pto, ..PLAIN }
}

/// As `own`, sharing bytes with no argument.
const fn apart(name: &'static str, pto: &'static str) -> FrontOp {
    FrontOp { name, pto, not_inplace: true, ..PLAIN }
}

/// As `own`, not sharing bytes with argument 1.
const fn expand(name: &'static str, pto: &'static str) -> FrontOp {
    FrontOp { name, pto, no_alias: &[1], ..PLAIN }
}

/// A result that takes the bytes of argument 0.
const fn in_place(name: &'static str, pto: &'static str) -> FrontOp {
    FrontOp { name, pto, memory: Memory::Reuses(0), ..PLAIN }
}

/// An operation whose lowering is special.
const fn special(name: &'static str, memory: Memory) -> FrontOp {
    FrontOp { name, memory, ..PLAIN }
}

const CMP: AttrRule = AttrRule {
    kwarg: "cmp_type",
    attribute: "cmpMode",
    kind: AttrKind::Case { of: "CmpMode", cases: &["eq", "ne", "lt", "le", "gt", "ge"] },
};
const MASK: AttrRule = AttrRule {
    kwarg: "mask_pattern",
    attribute: "maskPattern",
    kind: AttrKind::Case {
        of: "MaskPattern",
        cases: &["", "P0101", "P1010", "P0001", "P0010", "P0100", "P1000", "P1111"],
    },
};
const ROUND: AttrRule = AttrRule {
    kwarg: "mode",
    attribute: "rmode",
    kind: AttrKind::Case {
        of: "RoundMode",
        cases: &["NONE", "RINT", "ROUND", "FLOOR", "CEIL", "TRUNC", "ODD", "CAST_RINT"],
    },
};
const ACC_PHASE: AttrRule = AttrRule {
    kwarg: "acc_phase",
    attribute: "accPhase",
    kind: AttrKind::Case { of: "AccPhase", cases: &["unspecified", "partial", "final"] },
};
const fn precision(of: &'static str) -> AttrRule {
    AttrRule {
        kwarg: "high_precision",
        attribute: "precisionType",
        kind: AttrKind::Case { of, cases: &["default", "high_precision"] },
    }
}

/// All operations on tiles, by name.
pub static OPS: &[FrontOp] = &[
    own("tile.abs", "tabs"),
    own("tile.add", "tadd"),
    own("tile.addc", "taddc"),
    own("tile.adds", "tadds"),
    own("tile.addsc", "taddsc"),
    special("tile.alloc", Memory::None),
    own("tile.and", "tand"),
    apart("tile.ands", "tands"),
    FrontOp { memory: Memory::Reuses(0), ..special("tile.assemble", Memory::Own) },
    FrontOp { attrs: &[ROUND], ..own("tile.cast", "tcvt") },
    FrontOp {
        attrs: &[AttrRule { kwarg: "descending", attribute: "descending", kind: AttrKind::Bool }],
        operands: "S _",
        ..own("tile.ci", "tci")
    },
    FrontOp { attrs: &[CMP], ..own("tile.cmp", "tcmp") },
    FrontOp { attrs: &[CMP], ..own("tile.cmps", "tcmps") },
    apart("tile.col_argmax", "tcolargmax"),
    apart("tile.col_argmin", "tcolargmin"),
    FrontOp { operands: "_ src", ..expand("tile.col_expand", "tcolexpand") },
    expand("tile.col_expand_add", "tcolexpandadd"),
    expand("tile.col_expand_div", "tcolexpanddiv"),
    expand("tile.col_expand_expdif", "tcolexpandexpdif"),
    expand("tile.col_expand_max", "tcolexpandmax"),
    expand("tile.col_expand_min", "tcolexpandmin"),
    expand("tile.col_expand_mul", "tcolexpandmul"),
    expand("tile.col_expand_sub", "tcolexpandsub"),
    own("tile.col_max", "tcolmax"),
    own("tile.col_min", "tcolmin"),
    own("tile.col_prod", "tcolprod"),
    special("tile.col_sum", Memory::Own),
    apart("tile.concat", "tconcat"),
    special("tile.create", Memory::Own),
    FrontOp { attrs: &[precision("DivPrecision")], ..own("tile.div", "tdiv") },
    own("tile.divs", "tdivs"),
    own("tile.exp", "texp"),
    FrontOp { not_inplace: true, ..special("tile.extract", Memory::Own) },
    own("tile.fillpad", "tfillpad"),
    FrontOp { operands: "src _", ..apart("tile.fillpad_expand", "tfillpad") },
    in_place("tile.fillpad_inplace", "tfillpad"),
    apart("tile.fmod", "tfmod"),
    apart("tile.fmods", "tfmods"),
    special("tile.full", Memory::Own),
    FrontOp { operands: "src indices tmp", ..apart("tile.gather", "tgather") },
    FrontOp { not_inplace: true, ..special("tile.gather_compare", Memory::Own) },
    FrontOp { attrs: &[MASK], ..apart("tile.gather_mask", "tgather") },
    FrontOp { memory: Memory::Reuses(0), ..special("tile.gather_row", Memory::Own) },
    apart("tile.gatherb", "tgatherb"),
    FrontOp { attrs: &[ACC_PHASE], ..own("tile.gemv", "tgemv") },
    FrontOp { attrs: &[ACC_PHASE], ..in_place("tile.gemv_acc", "tgemv.acc") },
    FrontOp { attrs: &[ACC_PHASE], ..own("tile.gemv_bias", "tgemv.bias") },
    special("tile.get_block_idx", Memory::None),
    special("tile.get_block_num", Memory::None),
    special("tile.get_subblock_idx", Memory::None),
    special("tile.load", Memory::Own),
    FrontOp { attrs: &[precision("LogPrecision")], ..own("tile.log", "tlog") },
    own("tile.lrelu", "tlrelu"),
    own("tile.matmul", "tmatmul"),
    FrontOp { memory: Memory::Reuses(0), ..special("tile.matmul_acc", Memory::Own) },
    own("tile.matmul_bias", "tmatmul.bias"),
    own("tile.matmul_mx", "tmatmul.mx"),
    in_place("tile.matmul_mx_acc", "tmatmul.mx.acc"),
    own("tile.matmul_mx_bias", "tmatmul.mx.bias"),
    own("tile.maximum", "tmax"),
    own("tile.maximums", "tmaxs"),
    FrontOp { not_inplace: true, ..special("tile.mgather", Memory::Own) },
    own("tile.minimum", "tmin"),
    own("tile.minimums", "tmins"),
    FrontOp { not_inplace: true, ..special("tile.move", Memory::Own) },
    FrontOp { not_inplace: true, ..special("tile.mrgsort_format1", Memory::Own) },
    FrontOp { not_inplace: true, ..special("tile.mrgsort_format2", Memory::Own) },
    special("tile.mscatter", Memory::None),
    own("tile.mul", "tmul"),
    own("tile.muls", "tmuls"),
    own("tile.neg", "tneg"),
    own("tile.not", "tnot"),
    own("tile.or", "tor"),
    apart("tile.ors", "tors"),
    own("tile.part_add", "tpartadd"),
    own("tile.part_max", "tpartmax"),
    own("tile.part_min", "tpartmin"),
    own("tile.part_mul", "tpartmul"),
    apart("tile.prelu", "tprelu"),
    special("tile.random", Memory::Own),
    special("tile.read", Memory::None),
    FrontOp { attrs: &[precision("RecipPrecision")], ..apart("tile.recip", "trecip") },
    special("tile.reinterpret_view", Memory::View),
    own("tile.relu", "trelu"),
    own("tile.rem", "trem"),
    own("tile.rems", "trems"),
    special("tile.reshape", Memory::View),
    apart("tile.row_argmax", "trowargmax"),
    apart("tile.row_argmin", "trowargmin"),
    FrontOp { operands: "_ src", ..expand("tile.row_expand", "trowexpand") },
    FrontOp { no_alias: &[1, 2], ..own("tile.row_expand_add", "trowexpandadd") },
    expand("tile.row_expand_div", "trowexpanddiv"),
    expand("tile.row_expand_expdif", "trowexpandexpdif"),
    expand("tile.row_expand_max", "trowexpandmax"),
    expand("tile.row_expand_min", "trowexpandmin"),
    expand("tile.row_expand_mul", "trowexpandmul"),
    expand("tile.row_expand_sub", "trowexpandsub"),
    apart("tile.row_max", "trowmax"),
    apart("tile.row_min", "trowmin"),
    apart("tile.row_prod", "trowprod"),
    apart("tile.row_sum", "trowsum"),
    apart("tile.rsqrt", "trsqrt"),
    FrontOp { operands: "_ src indexes", ..in_place("tile.scatter", "tscatter") },
    FrontOp { operands: "_ src", attrs: &[MASK], ..in_place("tile.scatter_mask", "tscatter") },
    FrontOp { no_alias: &[0, 3], ..own("tile.sel", "tsel") },
    FrontOp { no_alias: &[0], ..own("tile.sels", "tsels") },
    special("tile.set_validshape", Memory::View),
    own("tile.shl", "tshl"),
    own("tile.shls", "tshls"),
    own("tile.shr", "tshr"),
    own("tile.shrs", "tshrs"),
    special("tile.slice", Memory::Slice),
    apart("tile.sort32", "tsort32"),
    own("tile.sqrt", "tsqrt"),
    special("tile.store", Memory::None),
    special("tile.store_fp", Memory::None),
    own("tile.sub", "tsub"),
    own("tile.subc", "tsubc"),
    own("tile.subs", "tsubs"),
    own("tile.subsc", "tsubsc"),
    FrontOp { operands: "_ src", ..in_place("tile.tget_scale_addr", "tget_scale_addr") },
    special("tile.tpop_from_aic", Memory::Popped),
    special("tile.tpop_from_aiv", Memory::Popped),
    special("tile.tpush_to_aic", Memory::None),
    special("tile.tpush_to_aiv", Memory::None),
    FrontOp { not_inplace: true, ..special("tile.transpose", Memory::Own) },
    special("tile.transpose_view", Memory::View),
    special("tile.tri", Memory::Own),
    FrontOp { writes: &[0], ..special("tile.write", Memory::None) },
    own("tile.xor", "txor"),
    apart("tile.xors", "txors"),
];

/// An operation by its name.
pub fn op_by_name(name: &str) -> Option<&'static FrontOp> {
    OPS.binary_search_by(|op| op.name.cmp(name)).ok().map(|index| &OPS[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        for pair in OPS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} stands before {}", pair[0].name, pair[1].name);
        }
    }
}
