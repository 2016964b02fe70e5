use gpu::refine_tets::close_marks::SIMPLICES;
use gpu::refine_tets::edge_set;

#[test]
fn simplices_have_their_edges() {
    for (simplex, own) in SIMPLICES {
        for k in 0..6 {
            assert_eq!(own >> k & 1 == 1, edge_set(k) & !simplex == 0);
        }
    }
}
