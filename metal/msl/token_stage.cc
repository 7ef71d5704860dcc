#include "metal/msl/token_stage.h"

#include "clang/Basic/IdentifierTable.h"
#include "clang/Lex/Preprocessor.h"

#include <array>

namespace bessemer::msl {

namespace {

using clang::Token;
namespace tok = clang::tok;

using Tokens = std::vector<Token>;

llvm::StringRef name_of(const Token& token) {
  if (token.isAnnotation() || token.isLiteral() || !token.getIdentifierInfo())
    return {};
  return token.getIdentifierInfo()->getName();
}

bool is_open(const Token& token) {
  return token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace);
}
bool is_close(const Token& token) {
  return token.isOneOf(tok::r_paren, tok::r_square, tok::r_brace);
}

// The index of the bracket that closes the one at `open`; the last token when there is none.
size_t matching_close(const Tokens& tokens, size_t open) {
  int depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    if (is_open(tokens[i]))
      ++depth;
    else if (is_close(tokens[i]) && --depth == 0)
      return i;
  }
  return tokens.size() - 1;
}

bool is_space_name(llvm::StringRef name) {
  return name == "device" || name == "constant" || name == "threadgroup";
}

class Rewriter {
public:
  explicit Rewriter(clang::Preprocessor& preprocessor) : preprocessor_(preprocessor) {}

  Tokens run(Tokens tokens) {
    tokens = rewrite_declarators(tokens);
    tokens = rewrite_conditionals(tokens);
    tokens = rewrite_compound_assignments(tokens);
    return rewrite_words(tokens);
  }

private:
  // Makes tokens at the place of another, so that diagnostics point into the source.
  Token word(const Token& at, llvm::StringRef text) {
    clang::IdentifierInfo* identifier = preprocessor_.getIdentifierInfo(text);
    Token token;
    token.startToken();
    token.setLocation(at.getLocation());
    token.setLength(at.getLength());
    token.setFlagValue(Token::LeadingSpace, true);
    token.setIdentifierInfo(identifier);
    token.setKind(identifier->getTokenID());
    return token;
  }
  Token mark(const Token& at, tok::TokenKind kind) {
    Token token;
    token.startToken();
    token.setLocation(at.getLocation());
    token.setLength(1);
    token.setKind(kind);
    return token;
  }
  Token number(const Token& at, unsigned value) {
    Token token;
    token.startToken();
    token.setKind(tok::numeric_constant);
    preprocessor_.CreateString(std::to_string(value), token, at.getLocation(), at.getLocation());
    return token;
  }

  void push_attribute(Tokens& out, const Token& at, llvm::StringRef name) {
    out.push_back(word(at, "__attribute__"));
    out.push_back(mark(at, tok::l_paren));
    out.push_back(mark(at, tok::l_paren));
    out.push_back(word(at, name));
    out.push_back(mark(at, tok::r_paren));
    out.push_back(mark(at, tok::r_paren));
  }

  Tokens rewrite_declarators(const Tokens& in);
  Tokens rewrite_conditionals(const Tokens& in);
  Tokens rewrite_compound_assignments(const Tokens& in);
  Tokens rewrite_words(const Tokens& in);

  bool rewrite_array_parameter(const Tokens& in, size_t& i, Tokens& out);
  bool drop_threadgroup_initialiser(const Tokens& in, size_t& i, Tokens& out);
  bool rewrite_literal(const Token& token, Tokens& out);
  bool rewrite_method_space(const Tokens& in, size_t i, Tokens& out);
  bool rewrite_space(const Tokens& in, size_t& i, Tokens& out);

  clang::Preprocessor& preprocessor_;
};

// `device T name[N]` as a parameter is a pointer in C, which drops the address space of what it
// points to: written out as `device T *name`.
bool Rewriter::rewrite_array_parameter(const Tokens& in, size_t& i, Tokens& out) {
  size_t j = i + 1;
  int angles = 0;
  for (; j < in.size(); ++j) {
    const Token& token = in[j];
    if (token.isOneOf(tok::star, tok::amp, tok::ampamp, tok::l_paren, tok::r_paren, tok::semi,
                      tok::l_square, tok::l_brace) ||
        (token.is(tok::comma) && angles == 0))
      break;
    if (token.is(tok::less))
      ++angles;
    if (token.is(tok::greater))
      --angles;
  }
  if (j + 1 >= in.size() || in[j].isNot(tok::l_square) || in[j + 1].is(tok::l_square) ||
      in[j - 1].isNot(tok::identifier))
    return false;
  size_t close = matching_close(in, j);
  if (close + 1 >= in.size() || !in[close + 1].isOneOf(tok::comma, tok::r_paren, tok::l_square))
    return false;
  // A second dimension stays: `T name[N][M]` is `T (*name)[M]`.
  bool nested = in[close + 1].is(tok::l_square) && close + 2 < in.size() &&
                in[close + 2].isNot(tok::l_square);
  out.insert(out.end(), in.begin() + i, in.begin() + j - 1);
  if (nested)
    out.push_back(mark(in[j], tok::l_paren));
  out.push_back(mark(in[j], tok::star));
  out.push_back(in[j - 1]);
  if (nested)
    out.push_back(mark(in[j], tok::r_paren));
  i = close;
  return true;
}

bool Rewriter::drop_threadgroup_initialiser(const Tokens& in, size_t& i, Tokens& out) {
  size_t j = i + 1;
  for (;
       j < in.size() && !in[j].isOneOf(tok::semi, tok::equal, tok::l_brace, tok::r_brace, tok::eof);
       ++j)
    if (in[j].isOneOf(tok::star, tok::amp, tok::l_paren))
      return false; // a pointer or reference to threadgroup memory, or a function
  if (j >= in.size() || in[j].isNot(tok::equal))
    return false;
  out.insert(out.end(), in.begin() + i, in.begin() + j);
  int depth = 0;
  for (; j < in.size() && in[j].isNot(tok::eof); ++j) {
    if (is_open(in[j]))
      ++depth;
    else if (is_close(in[j]))
      --depth;
    else if (in[j].is(tok::semi) && depth == 0)
      break;
  }
  i = j - 1;
  return true;
}

Tokens Rewriter::rewrite_declarators(const Tokens& in) {
  Tokens out;
  out.reserve(in.size() + in.size() / 8);
  std::vector<char> open;
  for (size_t i = 0; i < in.size(); ++i) {
    const Token& token = in[i];
    if (is_open(token))
      open.push_back(token.is(tok::l_paren) ? '(' : '{');
    else if (is_close(token) && !open.empty())
      open.pop_back();
    llvm::StringRef name = name_of(token);
    bool in_parentheses = !open.empty() && open.back() == '(';
    if (is_space_name(name) && in_parentheses && rewrite_array_parameter(in, i, out))
      continue;
    if (name == "threadgroup" && !in_parentheses && drop_threadgroup_initialiser(in, i, out))
      continue;
    out.push_back(token);
  }
  return out;
}

// Where `in[open]`, a `<` after a name, begins template arguments of something that is made or
// called, as in `vec<T, 4>(x)`: the place of their `>`. Else `open`.
size_t skip_template_arguments(const Tokens& in, size_t open) {
  if (open == 0 || in[open - 1].isNot(tok::identifier))
    return open;
  int angles = 0;
  for (size_t i = open; i + 1 < in.size(); ++i) {
    if (in[i].is(tok::less))
      ++angles;
    else if (in[i].isOneOf(tok::greater, tok::greatergreater))
      angles -= in[i].is(tok::greater) ? 1 : 2;
    else if (in[i].is(tok::l_paren))
      i = matching_close(in, i);
    else if (!in[i].isOneOf(tok::identifier, tok::comma, tok::coloncolon, tok::numeric_constant,
                            tok::star) &&
             !in[i].getIdentifierInfo())
      return open;
    if (angles <= 0)
      return angles == 0 && in[i + 1].isOneOf(tok::l_paren, tok::l_brace, tok::coloncolon) ? i
                                                                                           : open;
  }
  return open;
}

// Wraps both results of `c ? a : b` in a header function that returns its argument by value.
Tokens Rewriter::rewrite_conditionals(const Tokens& in) {
  std::vector<std::array<uint16_t, 2>> marks; // before this token: closing, opening
  for (size_t question = 0; question < in.size(); ++question) {
    if (in[question].isNot(tok::question))
      continue;
    auto find_end = [&](size_t from, bool at_colon) -> size_t {
      int depth = 0, nested = 0;
      for (size_t i = from; i < in.size(); ++i) {
        const Token& token = in[i];
        if (is_open(token))
          ++depth;
        else if (is_close(token) && --depth < 0)
          return at_colon ? 0 : i;
        if (depth != 0)
          continue;
        if (token.is(tok::less))
          i = skip_template_arguments(in, i);
        if (token.isOneOf(tok::semi, tok::eof) || (!at_colon && token.is(tok::comma)))
          return at_colon ? 0 : i;
        if (token.is(tok::question))
          ++nested;
        if (token.is(tok::colon) && nested-- == 0)
          return i;
      }
      return 0;
    };
    size_t colon = find_end(question + 1, true);
    size_t end = colon ? find_end(colon + 1, false) : 0;
    if (!end)
      continue;
    auto is_literal = [&](size_t first, size_t last) {
      return last - first == 1 && (in[first].isLiteral() ||
                                   in[first].isOneOf(tok::kw_true, tok::kw_false, tok::kw_nullptr));
    };
    // In a template argument the end is a `>`, which only the parser can tell from a comparison.
    bool in_template = false;
    int angles = 0;
    for (size_t i = colon + 1; i < end; ++i) {
      angles += in[i].is(tok::less);
      angles -= in[i].is(tok::greater) + 2 * in[i].is(tok::greatergreater);
      in_template |= angles < 0 || in[i].is(tok::l_brace);
    }
    if (in_template || is_literal(question + 1, colon) || is_literal(colon + 1, end))
      continue;
    if (marks.empty())
      marks.resize(in.size());
    ++marks[question + 1][1];
    ++marks[colon][0];
    ++marks[colon + 1][1];
    ++marks[end][0];
  }
  if (marks.empty())
    return in;
  Tokens out;
  out.reserve(in.size() + in.size() / 8);
  for (size_t i = 0; i < in.size(); ++i) {
    for (unsigned n = 0; n < marks[i][0]; ++n)
      out.push_back(mark(in[i], tok::r_paren));
    for (unsigned n = 0; n < marks[i][1]; ++n) {
      out.push_back(word(in[i], "__metal_value"));
      out.push_back(mark(in[i], tok::l_paren));
    }
    out.push_back(in[i]);
  }
  return out;
}

// The operator of `+=` and the like; `unknown` for others.
tok::TokenKind operator_of_assignment(const Token& token) {
  switch (token.getKind()) {
  case tok::plusequal:
    return tok::plus;
  case tok::minusequal:
    return tok::minus;
  case tok::starequal:
    return tok::star;
  case tok::slashequal:
    return tok::slash;
  case tok::percentequal:
    return tok::percent;
  case tok::ampequal:
    return tok::amp;
  case tok::pipeequal:
    return tok::pipe;
  case tok::caretequal:
    return tok::caret;
  case tok::lesslessequal:
    return tok::lessless;
  case tok::greatergreaterequal:
    return tok::greatergreater;
  default:
    return tok::unknown;
  }
}

bool is_component_name(llvm::StringRef name) {
  return !name.empty() && name.size() <= 4 &&
         (name.find_first_not_of("xyzw") == llvm::StringRef::npos ||
          name.find_first_not_of("rgba") == llvm::StringRef::npos);
}

// Where a source has an `operator+=` of its own that is no member, clang builds every dependent
// `+=` as a call that may be of it, and when it instantiates that call forgets that a vector's
// component is a property. There, `a.x += b` becomes `a.x = a.x + (b)`.
Tokens Rewriter::rewrite_compound_assignments(const Tokens& in) {
  bool has_own = false;
  for (size_t i = 1; i < in.size() && !has_own; ++i)
    has_own = in[i - 1].is(tok::kw_operator) && operator_of_assignment(in[i]) != tok::unknown;
  if (!has_own)
    return in;
  Tokens out;
  out.reserve(in.size() + in.size() / 8);
  for (size_t i = 0; i < in.size(); ++i) {
    tok::TokenKind operation = operator_of_assignment(in[i]);
    if (operation == tok::unknown || out.size() < 3 || !is_component_name(name_of(out.back())) ||
        !out[out.size() - 2].isOneOf(tok::period, tok::arrow)) {
      out.push_back(in[i]);
      continue;
    }
    // The left side, where saying it twice does nothing twice: names, members, simple subscripts.
    size_t start = out.size();
    while (start > 0 &&
           (out[start - 1].is(tok::identifier) ||
            out[start - 1].isOneOf(tok::period, tok::arrow, tok::coloncolon, tok::l_square,
                                   tok::r_square, tok::numeric_constant, tok::plus, tok::star)))
      --start;
    // The statement must begin there: else it was only the end of a longer expression.
    bool begins = start == 0 || out[start - 1].isOneOf(tok::semi, tok::l_brace, tok::r_brace,
                                                       tok::r_paren, tok::comma);
    if (!begins || start == out.size() || out[start].isNot(tok::identifier)) {
      out.push_back(in[i]);
      continue;
    }
    size_t end = i + 1;
    for (int depth = 0; end < in.size(); ++end) {
      if (is_open(in[end]))
        ++depth;
      else if (is_close(in[end]) && --depth < 0)
        break;
      else if (depth == 0 && in[end].isOneOf(tok::semi, tok::comma, tok::eof))
        break;
    }
    Tokens left(out.begin() + static_cast<ptrdiff_t>(start), out.end());
    out.push_back(mark(in[i], tok::equal));
    out.insert(out.end(), left.begin(), left.end());
    out.push_back(mark(in[i], operation));
    out.push_back(mark(in[i], tok::l_paren));
    out.insert(out.end(), in.begin() + static_cast<ptrdiff_t>(i) + 1,
               in.begin() + static_cast<ptrdiff_t>(end));
    out.push_back(mark(in[i], tok::r_paren));
    i = end - 1;
  }
  return out;
}

// MSL has no double: `1.0` is a float. Clang's own option for that is lost in templates.
bool Rewriter::rewrite_literal(const Token& token, Tokens& out) {
  std::string spelling = preprocessor_.getSpelling(token);
  llvm::StringRef text = spelling;
  bool hexadecimal = text.starts_with_insensitive("0x");
  bool floating = text.find_first_of(hexadecimal ? "pP" : ".eE") != llvm::StringRef::npos;
  if (!floating || !(llvm::isDigit(text.back()) || text.back() == '.'))
    return false;
  Token literal = token;
  preprocessor_.CreateString(spelling + "f", literal, token.getLocation(), token.getLocation());
  literal.setKind(tok::numeric_constant);
  literal.setFlagValue(Token::LeadingSpace, true);
  out.push_back(literal);
  return true;
}

// `T f(...) const device {`: the space becomes an attribute in front of the name in what was
// written so far. False where this is not the place of a method's qualifier.
bool Rewriter::rewrite_method_space(const Tokens& in, size_t i, Tokens& out) {
  if (i + 1 >= in.size() ||
      !in[i + 1].isOneOf(tok::l_brace, tok::semi, tok::colon, tok::equal, tok::kw_const,
                         tok::kw_noexcept, tok::kw_volatile, tok::arrow))
    return false;
  size_t end = out.size();
  while (end && out[end - 1].isOneOf(tok::kw_const, tok::kw_volatile, tok::kw_noexcept))
    --end;
  if (!end || out[end - 1].isNot(tok::r_paren))
    return false;
  llvm::StringRef name = name_of(in[i]);
  if (name == "thread")
    return true;
  size_t position = end - 1;
  for (int depth = 0; position > 0; --position) {
    if (out[position].is(tok::r_paren))
      ++depth;
    if (out[position].is(tok::l_paren) && --depth == 0)
      break;
  }
  // Back over the name: `f`, `operator+`, `operator[]`, `operator()`, `operator T`, `C<T>::f`.
  size_t start = position;
  for (size_t back = 1; back <= 8 && back <= position; ++back)
    if (out[position - back].is(tok::kw_operator)) {
      start = position - back;
      break;
    } else if (out[position - back].isOneOf(tok::semi, tok::l_brace, tok::r_brace)) {
      break;
    }
  if (start == position) {
    if (position == 0 || out[position - 1].isNot(tok::identifier))
      return false;
    start = position - 1;
  }
  while (start >= 2 && out[start - 1].is(tok::coloncolon)) {
    start -= 2;
    if (out[start].is(tok::greater)) {
      for (int depth = 0; start > 0; --start) {
        if (out[start].is(tok::greater))
          ++depth;
        if (out[start].is(tok::less) && --depth == 0)
          break;
      }
      if (start > 0)
        --start;
    }
  }
  Tokens attribute;
  attribute.push_back(word(in[i], "__attribute__"));
  attribute.push_back(mark(in[i], tok::l_paren));
  attribute.push_back(mark(in[i], tok::l_paren));
  attribute.push_back(word(in[i], kMethodSpaceAttribute));
  attribute.push_back(mark(in[i], tok::l_paren));
  attribute.push_back(number(in[i], name == "device" ? 1 : name == "constant" ? 2 : 3));
  attribute.push_back(mark(in[i], tok::r_paren));
  attribute.push_back(mark(in[i], tok::r_paren));
  attribute.push_back(mark(in[i], tok::r_paren));
  out.insert(out.begin() + static_cast<ptrdiff_t>(start), attribute.begin(), attribute.end());
  return true;
}

bool Rewriter::rewrite_space(const Tokens& in, size_t& i, Tokens& out) {
  const Token& token = in[i];
  llvm::StringRef name = name_of(token);
  if ((is_space_name(name) || name == "thread") && rewrite_method_space(in, i, out))
    return true;
  if (name == "device") {
    out.push_back(word(token, "__global"));
  } else if (name == "threadgroup") {
    out.push_back(word(token, "__local"));
  } else if (name == "constant") {
    // What is in constant memory is const, whether it says so or not.
    bool is_const = (i + 1 < in.size() && in[i + 1].is(tok::kw_const)) ||
                    (!out.empty() && out.back().is(tok::kw_const));
    out.push_back(word(token, "__constant"));
    if (!is_const)
      out.push_back(word(token, "const"));
  } else if (name == "thread") {
    // The unqualified space.
  } else if (name == "coherent") {
    if (i + 1 < in.size() && in[i + 1].is(tok::l_paren))
      i = matching_close(in, i + 1);
  } else if (name == "kernel") {
    push_attribute(out, token, kKernelAttribute);
  } else if (name == "vertex") {
    push_attribute(out, token, kVertexAttribute);
  } else if (name == "fragment") {
    push_attribute(out, token, kFragmentAttribute);
  } else {
    return false;
  }
  return true;
}

Tokens Rewriter::rewrite_words(const Tokens& in) {
  Tokens out;
  out.reserve(in.size() + in.size() / 4);
  bool explicit_instantiation = false;
  bool as_gnu = false;
  unsigned square_depth = 0; // > 0: inside [[ ]]
  for (size_t i = 0; i < in.size(); ++i) {
    const Token& token = in[i];
    bool pair = i + 1 < in.size() && in[i + 1].is(token.getKind());
    if (square_depth > 0) {
      if (token.is(tok::l_square))
        ++square_depth;
      if (token.is(tok::r_square) && --square_depth == 1 && pair) {
        if (as_gnu) {
          out.push_back(mark(token, tok::r_paren));
          out.push_back(mark(token, tok::r_paren));
        } else {
          out.push_back(token);
          out.push_back(in[i + 1]);
        }
        ++i;
        square_depth = 0;
        continue;
      }
      // clang takes a lone name as an argument for a name and not for an expression, unless it is
      // in parentheses: `[[buffer(kIndex)]]`.
      if (token.is(tok::identifier) && i > 0 && in[i - 1].is(tok::l_paren) && i + 1 < in.size() &&
          in[i + 1].isOneOf(tok::r_paren, tok::comma)) {
        out.push_back(mark(token, tok::l_paren));
        out.push_back(token);
        out.push_back(mark(token, tok::r_paren));
        continue;
      }
      // Attributes of the three kinds of functions have the keywords' names.
      llvm::StringRef name = name_of(token);
      if (as_gnu && (name == "kernel" || name == "vertex" || name == "fragment"))
        out.push_back(word(token, ("msl_" + name).str()));
      else
        out.push_back(token);
      continue;
    }
    if (token.is(tok::l_square) && pair) {
      as_gnu = explicit_instantiation;
      if (as_gnu) {
        out.push_back(word(token, "__attribute__"));
        out.push_back(mark(token, tok::l_paren));
        out.push_back(mark(token, tok::l_paren));
      } else {
        out.push_back(token);
        out.push_back(in[i + 1]);
      }
      ++i;
      square_depth = 2;
      continue;
    }
    if (token.is(tok::numeric_constant) && rewrite_literal(token, out))
      continue;
    if (token.is(tok::kw_template)) {
      explicit_instantiation = i + 1 < in.size() && in[i + 1].isNot(tok::less);
      out.push_back(token);
      continue;
    }
    // clang has no cast between half and bfloat; the header's goes through float.
    if (token.is(tok::kw_static_cast)) {
      out.push_back(word(token, "__metal_cast"));
      continue;
    }
    bool member = !out.empty() && out.back().isOneOf(tok::period, tok::arrow, tok::coloncolon);
    if (!member && rewrite_space(in, i, out))
      continue;
    explicit_instantiation = false;
    out.push_back(token);
  }
  return out;
}

} // namespace

std::vector<clang::Token> rewrite_tokens(clang::Preprocessor& preprocessor,
                                         std::vector<clang::Token> tokens) {
  return Rewriter(preprocessor).run(std::move(tokens));
}

} // namespace bessemer::msl
