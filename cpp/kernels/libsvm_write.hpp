// The arrays of a CSR matrix -> LIBSVM text, every number by its shortest decimals that read back to the same bits.
#pragma once
#include <charconv>
#include <cstdint>
#include <cstring>

namespace dualfree::libsvm {

// The most bytes that to_chars needs, plus the separators: the caller gives room for every row by these.
inline constexpr std::int64_t bytes_per_row = 25 + 5 + 20 + 1;  // label, " qid:", query, line end
inline constexpr std::int64_t bytes_per_entry = 1 + 20 + 1 + 24;  // blank, index, colon, value

template <class Value, class Index>
struct Rows {
    std::int64_t first, last;
    const double* labels;
    const std::int64_t* queries;  // or nullptr
    const Index* row_starts;      // the indptr of the whole matrix
    const Index* columns;
    const Value* values;
};

template <class Value, class Index>
char* write_rows(const Rows<Value, Index>& rows, std::int64_t base, char* at, char* end) {
    for (std::int64_t row = rows.first; row < rows.last; ++row) {
        at = std::to_chars(at, end, rows.labels[row]).ptr;
        if (rows.queries) {
            std::memcpy(at, " qid:", 5);
            at = std::to_chars(at + 5, end, rows.queries[row]).ptr;
        }
        for (Index entry = rows.row_starts[row]; entry < rows.row_starts[row + 1]; ++entry) {
            *at++ = ' ';
            at = std::to_chars(at, end, static_cast<std::int64_t>(rows.columns[entry]) + base).ptr;
            *at++ = ':';
            at = std::to_chars(at, end, rows.values[entry]).ptr;
        }
        *at++ = '\n';
    }
    return at;
}

}  // namespace dualfree::libsvm
