package generate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"
)

// scriptMutants makes the bugs of the Lua scripts in a directory.
func scriptMutants(root, directory string) ([]Mutant, error) {
	paths, err := filepath.Glob(filepath.Join(root, directory, "*.lua"))
	if err != nil {
		return nil, err
	}
	var all []Mutant
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		s, err := scan(directory+"/"+filepath.Base(path), string(data))
		if err != nil {
			return nil, err
		}
		slips := s.lines()
		for i := range s.tokens {
			for _, operator := range luaOperators {
				slips = append(slips, operator(s, i)...)
			}
		}
		slices.SortStableFunc(slips, func(a, b slip) int { return a.from - b.from })
		places := make([]place, len(slips))
		for i, slip := range slips {
			places[i] = place{s.file, "script", strings.LastIndexByte(s.text[:slip.from], '\n') + 1}
		}
		all = append(all, named(s.text, slips, places)...)
	}
	return all, nil
}

// script is a Lua script in tokens.
type script struct {
	file, text string
	tokens     []luaToken
	locals     []string // its local variables, sorted
	commands   []string // its strings in capital letters, which are commands and their options, sorted
}

type luaToken struct {
	kind     int
	text     string // of a string, what is between the quotes
	from, to int
}

var isCommand = regexp.MustCompile(`^[A-Z]{2,}$`)

func scan(file, text string) (*script, error) {
	s := &script{file: file, text: text}
	lines := []int{0, 0}
	for i := range text {
		if text[i] == '\n' {
			lines = append(lines, i+1)
		}
	}
	scanner, lexer := parse.NewScanner(strings.NewReader(text), file), &parse.Lexer{}
	for {
		t, err := scanner.Scan(lexer)
		if err != nil {
			return nil, fmt.Errorf("generate: %w", err)
		}
		if t.Type == parse.EOF {
			break
		}
		from := lines[t.Pos.Line] + t.Pos.Column - 1
		to := from + len(t.Str)
		if t.Type == parse.TString {
			to += 2
		}
		s.tokens = append(s.tokens, luaToken{t.Type, t.Str, from, to})
	}
	for i, t := range s.tokens {
		switch {
		case t.kind == parse.TString && isCommand.MatchString(t.text):
			s.commands = append(s.commands, t.text)
		case t.kind == parse.TLocal || t.kind == parse.TFor:
			for _, name := range s.tokens[i+1:] {
				if name.kind == parse.TIdent {
					s.locals = append(s.locals, name.text)
				} else if name.kind != ',' {
					break
				}
			}
		}
	}
	slices.Sort(s.locals)
	slices.Sort(s.commands)
	s.locals, s.commands = slices.Compact(s.locals), slices.Compact(s.commands)
	return s, nil
}

// at is the kind of a token, or 0 where there is none.
func (s *script) at(i int) int {
	if i < 0 || i >= len(s.tokens) {
		return 0
	}
	return s.tokens[i].kind
}

// instead is the slip that has the text in place of a token.
func (s *script) instead(c Class, i int, text string) slip {
	return slip{c, s.tokens[i].from, s.tokens[i].to, text}
}

// luaOperators make the slips of one token each.
var luaOperators = []func(s *script, i int) []slip{luaReplaced, luaNumber, luaName, luaCommand}

var luaOther = map[string]struct {
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

func luaReplaced(s *script, i int) []slip {
	other, ok := luaOther[s.tokens[i].text]
	if !ok || s.at(i) == parse.TString || s.at(i) == parse.TIdent && slices.Contains(s.locals, s.tokens[i].text) {
		return nil
	}
	return []slip{s.instead(other.class, i, other.text)}
}

func luaNumber(s *script, i int) []slip {
	number, err := strconv.Atoi(s.tokens[i].text)
	if s.at(i) != parse.TNumber || err != nil {
		return nil
	}
	return []slip{s.instead(Constant, i, strconv.Itoa(number+1)), s.instead(Constant, i, strconv.Itoa(number-1))}
}

// luaName has another local variable.
func luaName(s *script, i int) []slip {
	name := s.tokens[i].text
	if s.at(i) != parse.TIdent || !slices.Contains(s.locals, name) || s.at(i-1) == '.' || s.at(i-1) == parse.TLocal {
		return nil
	}
	var all []slip
	for _, other := range s.locals {
		if other != name {
			all = append(all, s.instead(Variable, i, other))
		}
	}
	return all
}

// luaCommand has another of the script's commands or options, or leaves out an argument.
func luaCommand(s *script, i int) []slip {
	if s.at(i) != parse.TString || !isCommand.MatchString(s.tokens[i].text) {
		return nil
	}
	quote := s.text[s.tokens[i].from : s.tokens[i].from+1]
	var all []slip
	for _, other := range s.commands {
		all = append(all, s.instead(Command, i, quote+other+quote))
	}
	if s.at(i-1) == ',' {
		all = append(all, slip{Command, s.tokens[i-1].from, s.tokens[i].to, ""})
	}
	return all
}

var (
	luaStatement = regexp.MustCompile(`(?m)^[ \t]*((redis\.p?call\(|[a-z]\w* = |[a-z]\w*\[\w+\] = |may\().*)$`)
	luaReturn    = regexp.MustCompile(`(?m)^[ \t]*((?:if .* )?return .*)$`)
	luaDo        = regexp.MustCompile(`(?m)^[ \t]*(for .* do .* end|if .* then .* end)$`)
)

// lines leaves out a statement that is a line by itself.
func (s *script) lines() []slip {
	var all []slip
	for pattern, class := range map[*regexp.Regexp]Class{luaStatement: Statement, luaReturn: Return, luaDo: Statement} {
		for _, at := range pattern.FindAllStringSubmatchIndex(s.text, -1) {
			if pattern == luaDo && luaReturn.MatchString(s.text[at[2]:at[3]]) {
				continue
			}
			all = append(all, slip{class, at[2], at[3], ""})
		}
	}
	slices.SortFunc(all, func(a, b slip) int { return a.from - b.from })
	return all
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
