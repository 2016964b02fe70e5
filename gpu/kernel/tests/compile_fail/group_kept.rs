//! A group cannot keep a view: the lifetime of a field's type is the group's, also through an alias.
use std::sync::Mutex;

use trioxide_kernel::{Group, In};

type Leaky = In<'static, f32>;
static KEPT: Mutex<Option<Leaky>> = Mutex::new(None);

#[derive(Group)]
pub struct Values<'a> {
    pub kept: Leaky,
    pub others: In<'a, f32>,
}

impl Values<'_> {
    pub fn keep(self) {
        *KEPT.lock().unwrap() = Some(self.kept);
    }
}

fn main() {}
