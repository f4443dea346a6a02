#include "kernels/limited_memory.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"

using namespace dualfree;

static LastMoves last_moves(In<double> moves, In<double> changes, In<double> products, Size count, Size oldest, Size d) {
    const Size room = Size(products.size());
    if (count < 0 || count > room || oldest < 0 || (oldest >= room && room > 0))
        throw nb::value_error("count and oldest must be pairs that there is room for.");
    require_size("moves", moves.size(), room * d);
    require_size("changes", changes.size(), room * d);
    return {moves.data(), changes.data(), products.data(), count, oldest, room, d};
}

static void bound_before_base(In<double> moves, In<double> changes, In<double> products, Size count, Size oldest, Out<double> q,
                              Out<double> factors) {
    const LastMoves last = last_moves(moves, changes, products, count, oldest, Size(q.size()));
    require_size("factors", factors.size(), last.room);
    nb::gil_scoped_release release;
    before_base(last, q.data(), factors.data());
}

static void bound_after_base(In<double> moves, In<double> changes, In<double> products, Size count, Size oldest, In<double> factors,
                             Out<double> q) {
    const LastMoves last = last_moves(moves, changes, products, count, oldest, Size(q.size()));
    require_size("factors", factors.size(), last.room);
    nb::gil_scoped_release release;
    after_base(last, factors.data(), q.data());
}

void bind_limited_memory(nb::module_& module) {
    module.def("before_base", &bound_before_base, nb::arg("moves"), nb::arg("changes"), nb::arg("products"), nb::arg("count"),
               nb::arg("oldest"), nb::arg("q").noconvert(), nb::arg("factors").noconvert());
    module.def("after_base", &bound_after_base, nb::arg("moves"), nb::arg("changes"), nb::arg("products"), nb::arg("count"),
               nb::arg("oldest"), nb::arg("factors"), nb::arg("q").noconvert());
}
