// LIBSVM text -> the arrays of a CSR matrix.
//
// Design. The caller cuts the text after a line end and gives a piece of whole lines at a time; every scanning loop
// then stops at '\n' by itself and no loop needs a bounds check. The caller also gives room for the most that a
// piece can hold ("1\n" is the shortest row, " 1:1" the shortest entry), so no loop needs a capacity check either.
// A row is counted only when it is complete: after any status, the rows so far are valid and `consumed` is the start
// of the row that was not taken.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "kernels/libsvm_numbers.hpp"

namespace dualfree::libsvm {

// The Python side holds one sentence for each of these, in this order.
enum class Status : int {
    done,
    wider_index,  // a column does not fit in the index type
    bad_label,
    bad_query,
    no_query,
    bad_index,
    huge_index,
    no_colon,
    bad_value,
    not_finite,
    duplicate,
    zero_index,
    above_limit,
};

struct Progress {
    Status status = Status::done;
    std::int64_t rows = 0;      // filled so far, over all pieces
    std::int64_t entries = 0;   // likewise
    std::int64_t consumed = 0;  // bytes of this piece
    std::int64_t lines = 0;     // complete lines of this piece
    std::int64_t column = 0;    // of the error, from 1
    std::int64_t number = 0;    // the feature index that the error is about
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();  // of the feature indices in this piece
    std::int64_t highest = -1;
    std::int64_t highest_line = 0;  // where it stands: line of this piece from 0, column from 1
    std::int64_t highest_column = 0;
};

struct Options {
    std::int64_t base;   // subtracted from every feature index
    std::int64_t least;  // the smallest feature index allowed
    std::int64_t most;   // the largest
    bool queries;        // whether each row must have a qid
};

template <class Value, class Index>
struct Output {
    double* labels;
    std::int64_t* row_ends;
    Index* columns;
    Value* values;
    std::int64_t* queries;
};

inline const char* skip_blanks(const char* at) {
    while (is_blank(*at)) ++at;
    return at;
}

// Where entry `which` (from 0) of a valid row stands: the start of the token with that many colons before it.
inline const char* find_entry(const char* row, std::int64_t which, bool has_query) {
    const char* token = row;
    for (std::int64_t colons = which + (has_query ? 2 : 1); colons; ++row) {
        if (is_blank(*row)) token = row + 1;
        if (*row == ':') --colons;
    }
    return token;
}

// Sorts one row by column. Returns the position in the text's order of the second of two equal columns, or -1.
template <class Value, class Index>
std::int64_t sort_row(Index* columns, Value* values, std::int64_t length) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(length));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return columns[a] < columns[b]; });
    for (std::size_t i = 1; i < order.size(); ++i)
        if (columns[order[i - 1]] == columns[order[i]]) return order[i];
    const std::vector<Index> old_columns(columns, columns + length);
    const std::vector<Value> old_values(values, values + length);
    for (std::size_t i = 0; i < order.size(); ++i) {
        columns[i] = old_columns[static_cast<std::size_t>(order[i])];
        values[i] = old_values[static_cast<std::size_t>(order[i])];
    }
    return -1;
}

// One line that is neither blank nor a comment. Returns the end of its last token, or nullptr with the status set.
template <class Value, class Index>
class RowParser {
   public:
    RowParser(const Options& options, const Output<Value, Index>& output, const char* end)
        : options_(options), output_(output), end_(end) {}

    const char* parse(const char* line, const char* at, Progress& progress) const {
        const char* const row = at;
        double& label = output_.labels[progress.rows];
        const char* const after_label = parse_number(at, end_, label);
        if (!after_label) return fail(progress, Status::bad_label, line, at);
        if (!std::isfinite(label)) return fail(progress, Status::not_finite, line, at);
        at = skip_blanks(after_label);
        const bool has_query = at[0] == 'q' && at[1] == 'i' && at[2] == 'd' && at[3] == ':';
        if (has_query) {
            const char* const stop = parse_query(at + 4, progress);
            if (!stop) return fail(progress, Status::bad_query, line, at);
            at = skip_blanks(stop);
        } else if (options_.queries) {
            return fail(progress, Status::no_query, line, at);
        }
        return parse_entries(line, row, at, has_query, progress);
    }

   private:
    static const char* fail(Progress& progress, Status status, const char* line, const char* at, std::int64_t number = 0) {
        progress.status = status;
        progress.column = at - line + 1;
        progress.number = number;
        return nullptr;
    }

    const char* parse_query(const char* at, const Progress& progress) const {
        std::int64_t query = 0;
        const auto [stop, error] = std::from_chars(at, end_, query);
        if (error != std::errc{} || !ends_token(*stop)) return nullptr;
        if (options_.queries) output_.queries[progress.rows] = query;
        return stop;
    }

    const char* parse_entries(const char* line, const char* row, const char* at, bool has_query, Progress& progress) const {
        Index* const columns = output_.columns + progress.entries;
        Value* const values = output_.values + progress.entries;
        std::int64_t length = 0, largest = -1;
        const char* largest_at = at;
        bool sorted = true;
        for (; !ends_line(*at); at = skip_blanks(at), ++length) {
            const char* const token = at;
            std::int64_t index = 0;
            for (; is_digit(*at) && at - token < 19; ++at) index = 10 * index + (*at - '0');
            if (at == token) return fail(progress, Status::bad_index, line, token);
            if (at - token > 18) return fail(progress, Status::huge_index, line, token);
            if (*at != ':') return fail(progress, Status::no_colon, line, at, index);
            if (index < options_.least) return fail(progress, Status::zero_index, line, token);
            if (index > options_.most) return fail(progress, Status::above_limit, line, token, index);
            const std::int64_t column = index - options_.base;
            if (column > std::numeric_limits<Index>::max()) return fail(progress, Status::wider_index, line, token);
            const char* const number = ++at;
            at = parse_number(number, end_, values[length]);
            if (!at) return fail(progress, Status::bad_value, line, number, index);
            if (!std::isfinite(values[length])) return fail(progress, Status::not_finite, line, number, index);
            columns[length] = static_cast<Index>(column);
            if (index > largest) {
                largest = index;
                largest_at = token;
            } else {
                sorted = false;
            }
        }
        if (!sorted) {
            const std::int64_t second = sort_row(columns, values, length);
            if (second >= 0)
                return fail(progress, Status::duplicate, line, find_entry(row, second, has_query), columns[second] + options_.base);
        }
        if (length) note_range(columns[0] + options_.base, largest, largest_at - line + 1, progress);
        progress.entries += length;
        return at;
    }

    static void note_range(std::int64_t lowest, std::int64_t highest, std::int64_t column, Progress& progress) {
        progress.lowest = std::min(progress.lowest, lowest);
        if (highest <= progress.highest) return;
        progress.highest = highest;
        progress.highest_line = progress.lines;
        progress.highest_column = column;
    }

    const Options& options_;
    const Output<Value, Index>& output_;
    const char* end_;
};

// Appends the rows of `text`, which ends with '\n', after the `rows` and `entries` that `output` holds already.
template <class Value, class Index>
Progress parse(std::string_view text, const Options& options, const Output<Value, Index>& output, std::int64_t rows,
               std::int64_t entries) {
    const char* const end = text.data() + text.size();
    const RowParser<Value, Index> parser(options, output, end);
    Progress progress;
    progress.rows = rows;
    progress.entries = entries;
    for (const char* line = text.data(); line != end;) {
        const char* at = skip_blanks(line);
        if (!ends_line(*at)) {
            at = parser.parse(line, at, progress);
            if (!at) return progress;
            output.row_ends[progress.rows++] = progress.entries;
        }
        line = *at == '\n' ? at + 1 : text.data() + text.find('\n', static_cast<std::size_t>(at - text.data())) + 1;
        progress.consumed = line - text.data();
        ++progress.lines;
    }
    return progress;
}

}  // namespace dualfree::libsvm
