//! What a kernel is compiled for: architecture, half of the core, C++ standard, macros.

/// Architecture the kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arch {
    /// Ascend 910B and 910C.
    A3,
    /// Ascend 950.
    A5,
    /// Kirin 9030.
    Kirin9030,
    /// Kirin X90.
    KirinX90,
}

impl Arch {
    /// Macro that selects the architecture in the headers.
    #[must_use]
    pub fn macro_name(self) -> &'static str {
        match self {
            Arch::A3 => "PTO_NPU_ARCH_A2A3",
            Arch::A5 => "PTO_NPU_ARCH_A5",
            Arch::Kirin9030 => "PTO_NPU_ARCH_KIRIN9030",
            Arch::KirinX90 => "PTO_NPU_ARCH_KIRINX90",
        }
    }
}

/// C++ standard the kernel is compiled as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Standard {
    /// C++17, what the device compiler is run with.
    #[default]
    Cxx17,
    /// C++20.
    Cxx20,
}

impl Standard {
    /// The compiler flag.
    #[must_use]
    pub fn flag(self) -> &'static str {
        match self {
            Standard::Cxx17 => "-std=c++17",
            Standard::Cxx20 => "-std=c++20",
        }
    }
}

/// Which part of a core the kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Half {
    /// The matrix half (AIC): `__DAV_CUBE__`.
    Cube,
    /// The vector half (AIV): `__DAV_VEC__`.
    Vector,
    /// Both sections in one object. Good for checking; a mixed kernel must be run as two halves.
    #[default]
    Both,
}

impl Half {
    /// Macros that select the sections of the kernel.
    #[must_use]
    pub fn macro_names(self) -> &'static [&'static str] {
        match self {
            Half::Cube => &["__DAV_CUBE__"],
            Half::Vector => &["__DAV_VEC__"],
            Half::Both => &["__DAV_CUBE__", "__DAV_VEC__"],
        }
    }
}

/// What a kernel is compiled for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileOptions {
    /// Architecture.
    pub arch: Arch,
    /// C++ standard.
    pub standard: Standard,
    /// Half of the core.
    pub half: Half,
    /// Macros as `NAME` or `NAME=VALUE`, for example `PTO_UBUF_SIZE_BYTES=262144`. They win over the defaults.
    pub defines: Vec<String>,
    /// Whether the code is optimised: it runs faster, and takes four times as long to compile.
    pub optimised: bool,
}

impl CompileOptions {
    /// Options for both halves of `arch`, as C++17, without macros.
    #[must_use]
    pub fn new(arch: Arch) -> Self {
        CompileOptions {
            arch,
            standard: Standard::default(),
            half: Half::default(),
            defines: Vec::new(),
            optimised: true,
        }
    }

    /// The same options with another C++ standard.
    #[must_use]
    pub fn standard(mut self, standard: Standard) -> Self {
        self.standard = standard;
        self
    }

    /// The same options for another half of the core.
    #[must_use]
    pub fn half(mut self, half: Half) -> Self {
        self.half = half;
        self
    }

    /// The same options without optimisation, for many kernels that run once.
    #[must_use]
    pub fn unoptimised(mut self) -> Self {
        self.optimised = false;
        self
    }

    /// The same options with one more macro, as `NAME` or `NAME=VALUE`.
    #[must_use]
    pub fn define(mut self, define: impl Into<String>) -> Self {
        self.defines.push(define.into());
        self
    }

    /// Command-line arguments that express these options.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let arch = std::iter::once(self.arch.macro_name());
        let macros = arch.chain(self.half.macro_names().iter().copied());
        let defines = macros.chain(self.defines.iter().map(String::as_str));
        let mut arguments = vec![self.standard.flag().to_owned()];
        arguments.extend(defines.map(|define| format!("-D{define}")));
        arguments
    }
}
