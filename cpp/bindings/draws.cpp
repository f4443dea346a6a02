#include "kernels/draws.hpp"

#include "bindings/arrays.hpp"
#include "bindings/module.hpp"
#include "kernels/shrinking.hpp"

using namespace dualfree;

using Indices = Array<Size>;

// Room for `count` draws of `each` examples. A product that overflows would be little room for many writes.
static std::vector<Size> room(Size count, Size each = 1) {
    Size total = 0;
    if (count < 0 || each < 0 || __builtin_mul_overflow(count, each, &total) || total > (Size(1) << 48))
        throw nb::value_error(("count is " + std::to_string(count) + "; so many draws do not fit in memory.").c_str());
    return std::vector<Size>(std::size_t(total));
}

static Indices uniform(Word seed, Size first, Size count, Size n) {
    std::vector<Size> out = room(count);
    draw_uniform({seed, first, count}, n, out.data());
    return to_array(std::move(out));
}

static nb::tuple alias_table(In<double> p) {
    std::vector<Word> keep(p.size());
    std::vector<Size> other(p.size());
    build_alias(p.data(), Size(p.size()), keep.data(), other.data());
    return nb::make_tuple(to_array(std::move(keep)), to_array(std::move(other)));
}

static Indices alias(Word seed, Size first, Size count, In<Word> keep, In<Size> other) {
    std::vector<Size> out = room(count);
    draw_alias({seed, first, count}, keep.data(), other.data(), Size(keep.size()), out.data());
    return to_array(std::move(out));
}

static Indices permutation(Word seed, Size epoch, Size n) {
    std::vector<Size> out = room(n);
    draw_permutation(seed, epoch, n, out.data());
    return to_array(std::move(out));
}

static void spread(Word seed, Size n, Size stride, Out<Size> out) {
    const Size size = Size(out.size());
    if (size > n || stride < 1 || stride > size) throw nb::value_error("out must have at most n entries, and stride be one of 1..size.");
    draw_spread(seed, n, size, stride, out.data());
}

static Size by_weight(Word seed, In<double> weight, Size size, double share, Out<Size> out, Out<double> given) {
    const Size n = Size(weight.size());
    if (size < 1) throw nb::value_error("size must be 1 or more.");
    require_size("out", out.size(), std::min(n, size + 1));
    require_size("given", given.size(), std::min(n, size + 1));
    return draw_by_weight(seed, weight.data(), n, size, share, out.data(), given.data());
}

static Indices subsets(Word seed, Size first, Size count, Size n, Size tau) {
    if (tau > n) throw nb::value_error("tau must not exceed n.");
    std::vector<Size> out = room(count, tau);
    draw_nice({seed, first, count}, n, tau, out.data());
    return to_array(std::move(out));
}

static Indices parts(Word seed, Size first, Size count, In<Size> members, In<Size> start, Size tau) {
    const Size number = Size(start.size()) - 1;
    std::vector<Size> out = room(count, number * tau);
    draw_parts({seed, first, count}, members.data(), start.data(), number, tau, out.data());
    return to_array(std::move(out));
}

static Indices buckets(Word seed, Size first, Size count, In<Size> members, In<Size> start, In<Word> keep,
                       In<Size> other) {
    const Size number = Size(start.size()) - 1;
    std::vector<Size> out = room(count, number);
    draw_buckets({seed, first, count}, members.data(), start.data(), number, keep.data(), other.data(), out.data());
    return to_array(std::move(out));
}

static nb::tuple independent(Word seed, Size first, Size count, In<Size> members, In<Size> start, In<double> ratio) {
    std::vector<Size> indices, batches;
    draw_independent({seed, first, count}, {members.data(), start.data(), ratio.data(), Size(start.size()) - 1},
                     indices, batches);
    return nb::make_tuple(to_array(std::move(indices)), to_array(std::move(batches)));
}

static Indices shrinking(Word seed, Size epoch, In<double> weights, double shrink, Size count) {
    std::vector<Size> out = room(count);
    draw_shrinking(seed, epoch, weights.data(), Size(weights.size()), shrink, count, out.data());
    return to_array(std::move(out));
}

// The examples of the listed groups, one group after the other, and where each begins.
static nb::tuple expand(In<Size> groups, In<Size> members, In<Size> start) {
    std::vector<Size> indices, begins{0};
    for (Size k = 0; k < Size(groups.size()); ++k) {
        const Size g = groups.data()[k];
        indices.insert(indices.end(), members.data() + start.data()[g], members.data() + start.data()[g + 1]);
        begins.push_back(Size(indices.size()));
    }
    return nb::make_tuple(to_array(std::move(indices)), to_array(std::move(begins)));
}

static Array<Word> random_words(Word seed, Word stream, Word step, Size count) {
    std::vector<Word> out(static_cast<std::size_t>(count));
    Stream words(seed, stream, step);
    for (auto& word : out) word = words.next();
    return to_array(std::move(out));
}

void bind_draws(nb::module_& module) {
    module.def("draw_uniform", &uniform, nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("n"));
    module.def("alias_table", &alias_table, nb::arg("p"));
    module.def("draw_alias", &alias, nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("keep"),
               nb::arg("other"));
    module.def("draw_permutation", &permutation, nb::arg("seed"), nb::arg("epoch"), nb::arg("n"));
    module.def("draw_spread", &spread, nb::arg("seed"), nb::arg("n"), nb::arg("stride"), nb::arg("out").noconvert());
    module.def("draw_by_weight", &by_weight, nb::arg("seed"), nb::arg("weight"), nb::arg("size"), nb::arg("share"),
               nb::arg("out").noconvert(), nb::arg("given").noconvert());
    module.def("draw_nice", &subsets, nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("n"),
               nb::arg("tau"));
    module.def("draw_parts", &parts, nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("members"),
               nb::arg("start"), nb::arg("tau"));
    module.def("draw_buckets", &buckets, nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("members"),
               nb::arg("start"), nb::arg("keep"), nb::arg("other"));
    module.def("draw_independent", &independent, nb::arg("seed"), nb::arg("first"), nb::arg("count"),
               nb::arg("members"), nb::arg("start"), nb::arg("ratio"));
    module.def("draw_shrinking", &shrinking, nb::arg("seed"), nb::arg("epoch"), nb::arg("weights"), nb::arg("shrink"),
               nb::arg("count"));
    module.def("expand", &expand, nb::arg("groups"), nb::arg("members"), nb::arg("start"));
    module.def("random_words", &random_words, nb::arg("seed"), nb::arg("stream"), nb::arg("step"),
               nb::arg("count"));
}
