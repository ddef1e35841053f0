// A precedence-climbing parser. Lowest to highest: + -, * /, unary minus, ^ (from the right, so -x^2 = -(x^2), 2^-3 is
// fine).
#include "penn/system/parse_expression.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <numbers>

#include "penn/system/expression.h"

namespace penn {
namespace {

constexpr int kMaxDepth = 200;         // of parentheses, signs and powers inside each other
constexpr size_t kMaxLength = 100000;  // characters of one expression

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Parser {
 public:
  Parser(const std::string& text, const SourceText& source, Position at) : text_(text), source_(source), at_(at) {}

  SyntaxTree parse() {
    if (text_.size() > kMaxLength)
      fail(0, 1, fmt::format("the expression has {} characters, more than {}", text_.size(), kMaxLength),
           "split it with [define]");
    skip_blanks();
    if (pos_ == text_.size()) fail(pos_, 1, "an expression is missing");
    sum();
    skip_blanks();
    if (pos_ < text_.size()) unexpected();
    return std::move(tree_);
  }

 private:
  [[noreturn]] void fail(size_t pos, size_t length, const std::string& message, const std::string& hint = "") const {
    source_.fail({at_.line, at_.column + static_cast<int>(pos), static_cast<int>(length)}, message, hint);
  }

  [[noreturn]] void unexpected() const {
    if (pos_ == text_.size()) fail(pos_, 1, "the expression ends too early: a number, a name or '(' is missing");
    const unsigned char c = static_cast<unsigned char>(text_[pos_]);
    if (c == ')') fail(pos_, 1, "')' without '('");
    if (c == '*' && pos_ > 0 && text_[pos_ - 1] == '*') fail(pos_, 1, "unexpected '*'", "powers are written x^2");
    if (c == '<' || c == '>' || c == '=' || c == '!' || c == '?' || c == '&' || c == '|')
      fail(pos_, 1, fmt::format("unexpected '{}': there are no comparisons in expressions", text_[pos_]),
           "use min, max, abs or sign");
    if (c >= 128)
      fail(pos_, 1, "a character that is not ASCII", "names use letters, digits and _; a label may hold any text");
    if (is_letter(text_[pos_]) || is_digit(text_[pos_]) || c == '(')
      fail(pos_, 1, "an operator is missing here", "products are written a*b");
    fail(pos_, 1, c >= 32 && c < 127 ? fmt::format("unexpected '{}'", text_[pos_]) : "unexpected control character");
  }

  void skip_blanks() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\n' || text_[pos_] == '\r'))
      ++pos_;
  }
  bool take(char c) {
    skip_blanks();
    if (pos_ >= text_.size() || text_[pos_] != c) return false;
    ++pos_;
    return true;
  }

  int add(Op op, int a, int b, size_t begin) {
    SyntaxNode node{.op = op, .a = a, .b = b};
    node.at = {at_.line, at_.column + static_cast<int>(begin), static_cast<int>(std::max<size_t>(pos_ - begin, 1))};
    tree_.nodes.push_back(std::move(node));
    return static_cast<int>(tree_.nodes.size()) - 1;
  }

  struct Depth {  // counts how deep the parser is inside itself; every way in leads through signed_power()
    explicit Depth(Parser& p) : parser(p) {
      if (++parser.depth_ > kMaxDepth)
        parser.fail(parser.pos_, 1, fmt::format("nested more than {} levels deep", kMaxDepth),
                    "split the expression with [define]");
    }
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  int sum() {
    skip_blanks();
    const size_t begin = pos_;
    int left = product();
    while (true) {
      if (take('+')) left = add(Op::kAdd, left, product(), begin);
      else if (take('-')) left = add(Op::kSub, left, product(), begin);
      else return left;
    }
  }

  int product() {
    skip_blanks();
    const size_t begin = pos_;
    int left = signed_power();
    while (true) {
      if (take('*')) left = add(Op::kMul, left, signed_power(), begin);
      else if (take('/')) left = add(Op::kDiv, left, signed_power(), begin);
      else return left;
    }
  }

  int signed_power() {
    const Depth depth(*this);
    skip_blanks();
    const size_t begin = pos_;
    if (take('-')) {
      const int operand = signed_power();
      return add(Op::kNeg, operand, -1, begin);
    }
    if (take('+')) return signed_power();
    const int base = atom();
    if (!take('^')) return base;
    const int exponent = signed_power();  // binds to the right: a^b^c = a^(b^c)
    return add(Op::kPow, base, exponent, begin);
  }

  int atom() {
    skip_blanks();
    const size_t begin = pos_;
    if (take('(')) {
      const int inner = sum();
      if (!take(')')) {
        skip_blanks();
        if (pos_ == text_.size()) fail(begin, 1, "'(' is never closed");
        unexpected();
      }
      return inner;
    }
    if (pos_ < text_.size() && (is_digit(text_[pos_]) || text_[pos_] == '.')) return number();
    if (pos_ < text_.size() && is_letter(text_[pos_])) return name_or_call();
    unexpected();
  }

  int number() {
    const size_t begin = pos_;
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data() + pos_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range)
      fail(begin, static_cast<size_t>(end - text_.data()) - begin,
           "the number is too large or too small for double precision");
    if (error != std::errc()) fail(begin, 1, "not a number");
    pos_ = static_cast<size_t>(end - text_.data());
    const int node = add(Op::kNumber, -1, -1, begin);
    tree_.nodes.back().number = value;
    return node;
  }

  int name_or_call() {
    const size_t begin = pos_;
    while (pos_ < text_.size() && (is_letter(text_[pos_]) || is_digit(text_[pos_]))) ++pos_;
    const std::string name = text_.substr(begin, pos_ - begin);
    const size_t length = pos_ - begin;
    if (take('(')) return call(name, begin, length);
    if (language_functions().count(name))
      fail(begin, length, fmt::format("'{}' is a function and needs an argument", name),
           fmt::format("write {}(...)", name));
    pos_ = begin + length;
    const int node = add(name == "pi" ? Op::kNumber : Op::kSymbol, -1, -1, begin);
    if (name == "pi") tree_.nodes.back().number = std::numbers::pi;
    else tree_.nodes.back().name = name;
    return node;
  }

  int call(const std::string& name, size_t begin, size_t length) {
    const auto function = language_functions().find(name);
    if (function == language_functions().end()) {
      std::vector<std::string> names;
      std::string list;
      for (const auto& [known, op] : language_functions())
        names.push_back(known), list += (list.empty() ? "" : ", ") + known;
      const std::string close = closest_name(name, names);
      if (name == "ln")
        fail(begin, length, "unknown function 'ln'", "log is the natural logarithm, log10 the decimal one");
      fail(begin, length, fmt::format("unknown function '{}'", name),
           (close.empty() ? "" : fmt::format("did you mean '{}'? ", close)) +
               fmt::format("functions: {}; a product is written with a star: {}*(...)", list, name));
    }
    const Op op = function->second;
    const int a = sum();
    int b = -1;
    if (is_binary(op)) {
      if (!take(','))
        fail(begin, length, fmt::format("'{}' takes two arguments", name), fmt::format("write {}(a, b)", name));
      b = sum();
    }
    if (take(','))
      fail(pos_ - 1, 1, fmt::format("too many arguments: '{}' takes {}", name, is_binary(op) ? "two" : "one"));
    if (!take(')')) {
      skip_blanks();
      if (pos_ == text_.size()) fail(begin + length, 1, "'(' is never closed");
      unexpected();
    }
    return add(op, a, b, begin);
  }

  const std::string& text_;
  const SourceText& source_;
  Position at_;
  size_t pos_ = 0;
  int depth_ = 0;
  SyntaxTree tree_;
};

}  // namespace

SyntaxTree parse_expression(const std::string& text, const SourceText& source, Position at) {
  return Parser(text, source, at).parse();
}

}  // namespace penn
