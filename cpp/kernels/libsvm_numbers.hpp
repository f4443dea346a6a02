// Decimal numbers in text that is known to end with '\n', read correctly rounded.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace dualfree::libsvm {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool ends_line(char c) { return c == '\n' || c == '#'; }
inline bool ends_token(char c) { return is_blank(c) || ends_line(c); }

// Whether the decimal number is below one, given that it is no zero and too long or too extreme for from_chars.
inline bool is_small(std::string_view text) {
    const auto exponent_at = text.find_first_of("eE");
    const auto digits = text.substr(0, exponent_at);
    const auto first = digits.find_first_of("123456789");
    const auto point = std::min(digits.find('.'), digits.size());
    if (exponent_at == text.npos) return first > point;
    // An exponent too long for a long long decides alone.
    auto tail = text.substr(exponent_at + 1);
    if (!tail.empty() && tail.front() == '+') tail.remove_prefix(1);
    long long exponent = 0;
    if (std::from_chars(tail.data(), tail.data() + tail.size(), exponent).ec != std::errc{}) return tail.front() == '-';
    return exponent + static_cast<long long>(point) - static_cast<long long>(first) < 0;
}

// Any number that from_chars reads, and a leading '+'. Returns nullptr if there is none. What is too small becomes 0.
template <class Value>
const char* parse_any_number(const char* at, const char* end, Value& value) {
    if (*at == '+' && *++at == '-') return nullptr;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error == std::errc::invalid_argument || !ends_token(*stop)) return nullptr;
    if (error == std::errc::result_out_of_range) {
        const bool small = is_small({at, static_cast<std::size_t>(stop - at)});
        value = small ? Value(0) : std::numeric_limits<Value>::infinity();
        if (*at == '-') value = -value;
    }
    return stop;
}

// The common case by hand: at most 19 digits and a point. A whole number below 2^53 divided by a power of ten up to
// 10^22 is one correctly rounded operation on two exact operands, hence correctly rounded itself (for float: 2^24, 10^10).
template <class Value>
const char* parse_number(const char* const begin, const char* end, Value& value) {
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    constexpr int exact_bits = std::numeric_limits<Value>::digits;
    constexpr int exact_power = std::is_same_v<Value, float> ? 10 : 22;
    const char* at = begin;
    const bool negative = *at == '-';
    if (negative || *at == '+') ++at;
    const char* const first = at;
    std::uint64_t digits = 0;
    for (; is_digit(*at); ++at) digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
    std::int64_t length = at - first;
    std::int64_t decimals = 0;
    if (*at == '.') {
        const char* const point = ++at;
        for (; is_digit(*at); ++at) digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
        decimals = at - point;
        length += decimals;
    }
    if (length == 0 || length > 19 || decimals > exact_power || digits >> exact_bits || !ends_token(*at))
        return parse_any_number(begin, end, value);
    value = static_cast<Value>(digits);
    if (decimals) value /= static_cast<Value>(powers[decimals]);
    if (negative) value = -value;
    return at;
}

}  // namespace dualfree::libsvm
