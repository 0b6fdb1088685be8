//! Shapes and
//! their areas.
use std::{fmt as f, io::{self, Read}};
use crate::units::*;
mod colors;

/// The most sides
/// of a shape.
pub const MOST: usize = 9;

/// A square.
#[derive(Debug, Clone)]
pub struct Square<T> {
    side: T,
}

pub enum Color { Red, Green(u8) }

/** What has an area. */
pub trait Shape {
    const SIDES: usize;
    fn area(&self) -> f64;
}

impl<T> Shape for shapes::Square<T> {
    const SIDES: usize = 4;
    fn area(&self) -> f64 {
        let rounded = round::<f64>(self.side.value());
        println!("{}", units::show(rounded));
        Square::new(rounded).cost()
    }
}

macro_rules! square { ($a:expr) => { $a * $a }; }

type Side = u8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "zero")]
    fn an_area_is_positive() {
        assert_eq!(make().area(2), other(1));
    }

    mod colors {
        #[tokio::test(flavor = "x")]
        async fn red_is_first() {}
    }

    fn helper() {}
}
