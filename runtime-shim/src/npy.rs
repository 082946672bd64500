//! `.npy` files. Float types that numpy has no name for (bf16 and narrower) are kept as f32, which holds each of their
//! values; a file of raw bits (`u2`, `u1`, `V2`, `V1`) is taken for them too.

use std::io::Read;
use std::path::Path;

use npyz::{DType, NpyHeader, Order, WriterBuilder};

use crate::error::Error;
use crate::npu::Element;
use crate::tensor::Tensor;

/// Element types of numpy, by kind and size in bytes.
const NAMES: [(&str, Element); 12] = [
    ("i1", Element::I8),
    ("u1", Element::U8),
    ("i2", Element::I16),
    ("u2", Element::U16),
    ("i4", Element::I32),
    ("u4", Element::U32),
    ("i8", Element::I64),
    ("u8", Element::U64),
    ("f2", Element::F16),
    ("f4", Element::F32),
    ("f8", Element::F64),
    ("b1", Element::Bool),
];

/// Whether numpy has no type of this name.
fn is_foreign(element: Element) -> bool {
    !NAMES.iter().any(|(_, known)| *known == element)
}

/// Reads a file for a parameter of type `wanted` (`None`: as it is).
///
/// # Errors
/// [`Error::Npy`] for a malformed file, Fortran order, or another element type than wanted.
pub fn read(path: &Path, wanted: Option<Element>) -> Result<Tensor, Error> {
    let bad = |reason: String| Error::Npy { file: path.to_owned(), reason };
    let bytes = std::fs::read(path).map_err(|e| bad(e.to_string()))?;
    let mut reader = &bytes[..];
    let header = NpyHeader::from_reader(&mut reader).map_err(|e| bad(format!("not an .npy file: {e}")))?;
    let DType::Plain(name) = header.dtype() else {
        return Err(bad("an array of structures; expected one of numbers".to_owned()));
    };
    let name = name.to_string();
    if header.order() == Order::Fortran && header.shape().len() > 1 {
        return Err(bad("in Fortran order; save numpy.ascontiguousarray(x)".to_owned()));
    }
    if name.starts_with('>') {
        return Err(bad(format!("big-endian ({name}); save x.astype(x.dtype.newbyteorder('<'))")));
    }
    let short = name.trim_start_matches(['<', '|', '=', '>']);
    let stored = match (NAMES.iter().find(|(n, _)| *n == short), short) {
        (Some((_, element)), _) => *element,
        (None, "V2") => Element::U16,
        (None, "V1") => Element::U8,
        (None, _) => return Err(bad(format!("elements of type {name}, which no kernel takes"))),
    };
    let shape: Vec<usize> = header.shape().iter().map(|&n| n as usize).collect();
    let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    let size = count.and_then(|n| n.checked_mul(stored.storage_bytes())).ok_or_else(|| bad("too large".to_owned()))?;
    let mut data = Vec::new();
    reader.read_to_end(&mut data).map_err(|e| bad(e.to_string()))?;
    if data.len() < size {
        return Err(bad(format!("ends after {} of {size} bytes of data", data.len())));
    }
    data.truncate(size);
    let tensor = Tensor { element: stored, shape, bytes: data };
    match wanted {
        None => Ok(tensor),
        Some(element) if element == stored => Ok(tensor),
        Some(element) if is_foreign(element) && stored == Element::F32 => {
            Ok(Tensor::of(element, &tensor.shape, &tensor.values()))
        }
        Some(element) if is_foreign(element) && stored == element.raw() => Ok(Tensor { element, ..tensor }),
        // A byte array for whatever has bytes; a bool is a byte.
        Some(Element::Bool) if stored == Element::U8 => Ok(tensor),
        Some(element) => {
            let also = if is_foreign(element) { " (as f32, or as raw bits)" } else { "" };
            Err(bad(format!("holds {}, but the kernel takes {}{also}", stored.name(), element.name())))
        }
    }
}

/// Writes a tensor.
///
/// # Errors
/// [`Error::Npy`] when the file cannot be written; none is left behind then.
pub fn write(path: &Path, tensor: &Tensor) -> Result<(), Error> {
    let bad = |reason: String| Error::Npy { file: path.to_owned(), reason };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(|e| bad(e.to_string()))?;
    encode(tensor, file.as_file_mut()).map_err(|e| bad(e.to_string()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644));
    }
    file.persist(path).map_err(|e| bad(e.error.to_string()))?;
    Ok(())
}

fn encode(tensor: &Tensor, file: &mut std::fs::File) -> std::io::Result<()> {
    let shape: Vec<u64> = tensor.shape.iter().map(|&n| n as u64).collect();
    macro_rules! save {
        ($type:ty) => {{
            let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(file).begin_nd()?;
            let words = tensor.bytes.chunks_exact(size_of::<$type>());
            writer.extend(words.map(|w| <$type>::from_le_bytes(w.try_into().expect("a whole element"))))?;
            writer.finish()
        }};
    }
    match tensor.element {
        Element::I8 => save!(i8),
        Element::U8 => save!(u8),
        Element::I16 => save!(i16),
        Element::U16 => save!(u16),
        Element::I32 => save!(i32),
        Element::U32 => save!(u32),
        Element::I64 => save!(i64),
        Element::U64 => save!(u64),
        Element::F32 => save!(f32),
        Element::F64 => save!(f64),
        Element::F16 => save!(half::f16),
        _ => {
            let wide = Tensor::of(Element::F32, &tensor.shape, &tensor.values());
            encode(&wide, file)
        }
    }
}
