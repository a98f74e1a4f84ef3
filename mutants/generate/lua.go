package generate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// The tokens of scripts, as far as slips need them, and lines that are a statement by themselves.
var (
	luaToken  = regexp.MustCompile(`--.*|'[^'\n]*'|"[^"\n]*"|[A-Za-z_]\w*|\d+|[=~<>]=|\.\.|[-+*/<>,.{(]`)
	luaLocals = regexp.MustCompile(`(?m)^[^-\n]*\b(?:local|for) (\w+(?:, *\w+)*)(?: =| in|$)`)
	isCommand = regexp.MustCompile(`^['"][A-Z]{2,}['"]$`)

	luaLines = []struct {
		class Class
		line  *regexp.Regexp
	}{
		{Return, regexp.MustCompile(`^(if .* )?return .*$`)},
		{Statement, regexp.MustCompile(`^(redis\.p?call\(|[a-z]\w* = |[a-z]\w*\[\w+\] = |may\().*$`)},
		{Statement, regexp.MustCompile(`^(for .* do .* end|if .* then .* end)$`)},
	}
)

// luaOthers are what may be in place of a token.
var luaOthers = map[string]struct {
	class Class
	text  string
}{
	"==": {Condition, "~="}, "~=": {Condition, "=="}, "not": {Condition, ""},
	"<": {Boundary, "<="}, "<=": {Boundary, "<"}, ">": {Boundary, ">="}, ">=": {Boundary, ">"},
	"and": {Logic, "or"}, "or": {Logic, "and"},
	"+": {Operator, "-"}, "-": {Operator, "+"}, "*": {Operator, "/"}, "/": {Operator, "*"}, "max": {Operator, "min"}, "floor": {Operator, "ceil"},
	"true": {Constant, "false"}, "false": {Constant, "true"},
	"call": {Command, "pcall"}, "pcall": {Command, "call"}, "KEYS": {Command, "ARGV"}, "ARGV": {Command, "KEYS"},
}

// scriptSlips makes the bugs of a Lua script.
func (f *file) scriptSlips() error {
	if bytecode(f.text) == "" {
		return fmt.Errorf("generate: %s is no Lua", f.name)
	}
	var locals, commands []string
	for _, m := range luaLocals.FindAllStringSubmatch(f.text, -1) {
		locals = append(locals, regexp.MustCompile(`\w+`).FindAllString(m[1], -1)...)
	}
	tokens := luaToken.FindAllStringIndex(f.text, -1)
	for _, t := range tokens {
		if s := f.text[t[0]:t[1]]; isCommand.MatchString(s) {
			commands = append(commands, s)
		}
	}
	slices.Sort(locals)
	slices.Sort(commands)
	locals, commands = slices.Compact(locals), slices.Compact(commands)
	before := "" // the token before this one
	for i, t := range tokens {
		from, to, is := t[0], t[1], f.text[t[0]:t[1]]
		begin := strings.LastIndexByte(f.text[:from], '\n') + 1
		slip := func(c Class, from, to int, text string) { f.slip(c, "script", begin, from, to, text) }
		instead := func(c Class, texts ...string) {
			for _, text := range texts {
				slip(c, from, to, text)
			}
		}
		if line, _, _ := strings.Cut(f.text[from:], "\n"); strings.TrimSpace(f.text[begin:from]) == "" {
			for _, l := range luaLines {
				if l.line.MatchString(line) {
					slip(l.class, from, from+len(line), "")
					break
				}
			}
		}
		other, hasOther := luaOthers[is]
		isLocal := slices.Contains(locals, is)
		number, err := strconv.Atoi(is)
		switch {
		case isLocal && before != "." && before != "local":
			instead(Variable, locals...)
		case hasOther && !isLocal:
			instead(other.class, other.text)
		case err == nil:
			instead(Constant, strconv.Itoa(number+1), strconv.Itoa(number-1))
		case isCommand.MatchString(is):
			if before == "," {
				slip(Command, tokens[i-1][0], to, "")
			}
			instead(Command, commands...)
		}
		before = is
	}
	return nil
}

// bytecode is what a script compiles to; it is empty if it does not.
func bytecode(text string) string {
	chunk, err := parse.Parse(strings.NewReader(text), "script")
	if err != nil {
		return ""
	}
	code, err := lua.Compile(chunk, "script")
	if err != nil {
		return ""
	}
	return code.String()
}
