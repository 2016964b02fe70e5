use trioxide_kernel::{Group, In};

#[derive(Group)]
pub struct Static<'a> {
    pub sites: In<'a, u32>,
    pub others: In<'static, u32>,
}

#[derive(Group)]
pub struct Tuple<'a>(In<'a, u32>);

#[derive(Group)]
pub struct Plain {
    pub count: u32,
}

fn main() {}
