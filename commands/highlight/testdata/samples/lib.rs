//! Docs.
use std::{collections::HashMap, fmt};

#[derive(Debug, Clone)]
pub enum Shape<'a> { Circle(f64), Named { name: &'a str } }

impl<'a> fmt::Display for Shape<'a> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Circle(r) if *r > 1_000.0 => write!(f, "big {r:?}"),
            _ => unreachable!(r#"raw "x""#),
        }
    }
}
/* nested /* comment */ */
#include <stdio.h>
int main(int argc, char **argv) { return printf("%d\n", 'c'); }
public static final class Foo extends Bar { @Override void run() throws Exception {} }
<?php echo $x->y["z"]; ?>
