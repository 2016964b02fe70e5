use trioxide_kernel::check::Label;
use trioxide_kernel::view::RawView;
use trioxide_kernel::{In, Out};

fn main() {
    let values = In::from_slice(&[1.0f32, 2.0]);
    let writes = Out::<f32>::from_raw(RawView::new(0, 1), Label::new("none", "values"));
    writes.set(7u32, values.at(9u32));
}
