//! Outputs appear whole or not at all.

use std::{
    io::{self, Write},
    path::Path,
};

/// Writes a text to a file through a temporary one beside it; `-` is standard output.
pub fn write(path: &str, text: &str) -> io::Result<()> {
    if path == "-" {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        return out.flush();
    }
    let target = Path::new(path);
    // A device or pipe cannot be replaced by a file.
    if target.exists() && !target.is_file() && !target.is_dir() {
        return std::fs::write(target, text);
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no folder '{}'", folder.display())));
    }
    if target.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    let mut file = tempfile::Builder::new().prefix(".ptoc-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    make_readable(file.as_file());
    file.persist(target).map_err(|e| e.error)?;
    Ok(())
}

/// Temporary files are private; products are not.
#[cfg(unix)]
fn make_readable(file: &std::fs::File) {
    use std::os::unix::fs::PermissionsExt;
    let _ = file.set_permissions(std::fs::Permissions::from_mode(0o644));
}

#[cfg(not(unix))]
fn make_readable(_file: &std::fs::File) {}

/// Reads a file, or standard input for `-`.
pub fn read(path: &str) -> io::Result<String> {
    let bytes = if path == "-" {
        let mut buffer = Vec::new();
        io::Read::read_to_end(&mut io::stdin().lock(), &mut buffer)?;
        buffer
    } else {
        std::fs::read(path)?
    };
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8 text"))
}
