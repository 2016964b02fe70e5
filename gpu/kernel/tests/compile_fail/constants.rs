//! A constant of a kernel is a bool or a whole number, whose values are listed.
use trioxide_kernel::{In, Out, kernel};

#[kernel]
pub fn without_values<const STRICT: bool>(i: u32, values: Out<f32>) {
    values.set(i, f32::from(u8::from(STRICT)));
}

#[kernel(COUNT in [])]
pub fn without_a_value<const COUNT: u32>(i: u32, values: Out<f32>) {
    values.set(i, COUNT as f32);
}

#[kernel(COUNT in [true])]
pub fn of_another_type<const COUNT: u32>(i: u32, values: Out<f32>) {
    values.set(i, COUNT as f32);
}

#[kernel(COUNT in [2, 3, 2])]
pub fn listed_twice<const COUNT: u32>(i: u32, values: Out<f32>) {
    values.set(i, COUNT as f32);
}

#[kernel(COUNT in [2], COUNT in [3])]
pub fn two_lists<const COUNT: u32>(i: u32, values: Out<f32>) {
    values.set(i, COUNT as f32);
}

#[kernel(LETTER in ['a'])]
pub fn by_letter<const LETTER: char>(i: u32, values: Out<u32>) {
    values.set(i, LETTER as u32);
}

#[kernel(STRICT in [false, true])]
pub fn unknown_constant(i: u32, values: In<f32>, copies: Out<f32>) {
    copies.set(i, values.at(i));
}

fn main() {}
