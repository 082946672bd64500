//! Arguments of a kernel as they stand on the command line.

use pto_runtime_shim::{Argument, Element, Parameter, Tensor, npy};
use std::path::Path;

/// `NAME=VALUE`.
#[derive(Clone, Debug)]
pub struct Split {
    /// Name or position of a parameter.
    pub name: String,
    /// The rest.
    pub value: String,
}

/// Splits all `NAME=VALUE`.
pub fn named(list: &[String], option: &str) -> Result<Vec<Split>, String> {
    let split = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok(Split { name: name.trim().to_owned(), value: value.trim().to_owned() })
        }
        _ => Err(format!("{option} {text}: expected NAME=VALUE")),
    };
    list.iter().map(split).collect()
}

/// Position of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(pub usize);

impl Place {
    /// The parameter with a name, or at a position.
    pub fn find(split: &Split, parameters: &[Parameter]) -> Result<Place, String> {
        let by_name = parameters.iter().position(|p| p.name == split.name);
        let by_position = || split.name.parse().ok().filter(|&index: &usize| index < parameters.len());
        by_name.or_else(by_position).map(Place).ok_or_else(|| {
            let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            format!("the kernel has no parameter '{}'; it has {}", split.name, names.join(", "))
        })
    }
}

/// Value of an argument.
#[derive(Clone, Debug)]
pub enum Given {
    /// Contents.
    Tensor(Tensor),
    /// A type and a shape; nothing written.
    Fresh(Element, Vec<usize>),
    /// What needs neither.
    Plain(Argument),
}

/// Most bytes of one argument.
const MOST: usize = 8 << 30;

impl Given {
    /// Memory for a tensor.
    pub fn fresh(element: Element, shape: &[usize]) -> Given {
        Given::Fresh(element, shape.to_vec())
    }

    /// Reads a value for a parameter.
    pub fn read(split: &Split, parameter: &Parameter) -> Result<Given, String> {
        let wrong = |expected: &str| Err(format!("--arg {}={}: expected {expected}", split.name, split.value));
        if !parameter.pointer {
            if let Ok(value) = split.value.parse::<i64>() {
                return Ok(Given::Plain(Argument::Int(value)));
            }
            return match split.value.parse::<f64>() {
                Ok(value) if parameter.element.is_none_or(Element::is_float) => {
                    Ok(Given::Plain(Argument::Float(value)))
                }
                Ok(_) => wrong(&format!("an integer, since '{}' is {}", parameter.name, parameter.cpp)),
                Err(_) => wrong(&format!("a number, since '{}' is {}", parameter.name, parameter.cpp)),
            };
        }
        if split.value.ends_with(".npy") {
            let tensor = npy::read(Path::new(&split.value), parameter.element);
            return tensor.map(Given::Tensor).map_err(|e| format!("--arg {}: {e}", split.name));
        }
        let (fill, spec) = split.value.split_once(':').unwrap_or(("", &split.value));
        let Some((element, shape)) = shape_of(spec) else {
            return wrong("FILE.npy or TYPE[DIMS], such as f32[16,64], alone or after zeros: or random:");
        };
        if let Some(own) = parameter.element.filter(|own| *own != element) {
            return wrong(&format!("elements of type {}, since '{}' is {}", own.name(), parameter.name, parameter.cpp));
        }
        match fill.split_once('@').unwrap_or((fill, "0")) {
            ("", _) => Ok(Given::Fresh(element, shape)),
            ("zeros", "0") => Ok(Given::Tensor(Tensor::zeros(element, &shape))),
            ("random", seed) => match seed.parse() {
                Ok(seed) => Ok(Given::Tensor(random(element, &shape, seed))),
                Err(_) => wrong("a number as the seed, as in random@7:f32[16,64]"),
            },
            _ => wrong("zeros: or random: before TYPE[DIMS]"),
        }
    }
}

/// Reads `TYPE[DIMS]`.
fn shape_of(spec: &str) -> Option<(Element, Vec<usize>)> {
    let (name, dims) = spec.strip_suffix(']')?.split_once('[')?;
    let element = Element::named(name)?;
    let shape: Vec<usize> = dims.split(',').map(|d| d.trim().parse().ok()).collect::<Option<_>>()?;
    let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
    (count.checked_mul(8)? <= MOST).then_some((element, shape))
}

/// Values that look random and are the same on every machine: floats from -1 to 1, integers from -8 to 7.
fn random(element: Element, shape: &[usize], seed: u64) -> Tensor {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let count: usize = shape.iter().product();
    let values: Vec<f64> = (0..count)
        .map(|_| match element.is_float() {
            true => (next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0,
            false if element.is_unsigned() => (next() % 8) as f64,
            false => (next() % 16) as f64 - 8.0,
        })
        .collect();
    Tensor::of(element, shape, &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(pointer: bool, element: Element) -> Parameter {
        Parameter { name: "x".into(), pointer, element: Some(element), cpp: "the type".into() }
    }

    fn read(value: &str, parameter: &Parameter) -> Result<Given, String> {
        Given::read(&Split { name: "x".into(), value: value.into() }, parameter)
    }

    #[test]
    fn values_are_read() {
        let tensor = parameter(true, Element::F32);
        assert!(matches!(read("f32[2,3]", &tensor), Ok(Given::Fresh(Element::F32, shape)) if shape == [2, 3]));
        let Ok(Given::Tensor(zeros)) = read("zeros:f32[4]", &tensor) else { panic!("a tensor") };
        assert_eq!(zeros.values(), [0.0; 4]);
        let random = |text| match read(text, &tensor) {
            Ok(Given::Tensor(tensor)) => tensor.values(),
            other => panic!("{other:?}"),
        };
        assert_eq!(random("random:f32[8]"), random("random@0:f32[8]"));
        assert_ne!(random("random@1:f32[8]"), random("random@2:f32[8]"));
        assert!(random("random:f32[99]").iter().all(|v| v.abs() <= 1.0));
        assert!(matches!(read("-5", &parameter(false, Element::I32)), Ok(Given::Plain(Argument::Int(-5)))));
        assert!(
            matches!(read("0.5", &parameter(false, Element::F32)), Ok(Given::Plain(Argument::Float(v))) if v == 0.5)
        );
    }

    #[test]
    fn wrong_values_are_refused() {
        let tensor = parameter(true, Element::F32);
        for (value, hint) in [
            ("f16[4]", "elements of type f32"),
            ("f32[4", "FILE.npy or TYPE[DIMS]"),
            ("f32[99999999999,99999999999]", "FILE.npy or TYPE[DIMS]"),
            ("ones:f32[4]", "zeros: or random:"),
            ("random@x:f32[4]", "seed"),
            ("no/such.npy", "no/such.npy"),
        ] {
            let error = read(value, &tensor).expect_err(value);
            assert!(error.contains(hint), "{error}");
        }
        assert!(read("0.5", &parameter(false, Element::I32)).expect_err("a float").contains("an integer"));
        assert!(named(&["x".into()], "--arg").is_err());
    }
}
