package wire

import (
	"fmt"
	"regexp"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// specification is what string.format knows: flags, width, precision and conversion.
var specification = regexp.MustCompile(`^%([-+ #0]*)(\d{0,2})(\.\d{0,2})?([cdiouxXeEfgGqs])`)

// format is string.format of Lua 5.1. gopher-lua's is fmt.Sprintf, which shows the addresses of tables.
func format(l *lua.LState) int {
	rest := l.CheckString(1)
	var text strings.Builder
	for argument := 2; ; argument++ {
		before, after, found := strings.Cut(rest, "%")
		text.WriteString(before)
		for found && strings.HasPrefix(after, "%") {
			text.WriteByte('%')
			before, after, found = strings.Cut(after[1:], "%")
			text.WriteString(before)
		}
		if !found {
			break
		}
		parts := specification.FindStringSubmatch("%" + after)
		if parts == nil {
			l.RaiseError("invalid option '%%%s' to 'format'", after[:min(1, len(after))])
		}
		if l.GetTop() < argument {
			l.ArgError(argument, "no value")
		}
		rest = after[len(parts[0])-1:]
		text.WriteString(converted(l, argument, parts[1]+parts[2]+parts[3], parts[3], parts[4]))
	}
	l.Push(lua.LString(text.String()))
	return 1
}

// converted is an argument in a conversion of C.
func converted(l *lua.LState, argument int, how, precision, conversion string) string {
	switch conversion {
	case "s":
		return fmt.Sprintf("%"+how+"s", l.CheckString(argument))
	case "q":
		return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", "\\\n", "\r", `\r`, "\x00", `\000`).Replace(l.CheckString(argument)) + `"`
	}
	switch n := float64(l.CheckNumber(argument)); conversion {
	case "c":
		return string([]byte{byte(int64(n))})
	case "d", "i":
		return fmt.Sprintf("%"+how+"d", int64(n))
	case "u":
		return fmt.Sprintf("%"+how+"d", uint64(int64(n)))
	case "o", "x", "X":
		return fmt.Sprintf("%"+how+conversion, uint64(int64(n)))
	case "g", "G":
		if precision == "" {
			how += ".6" // of C; Go's is as many digits as it takes
		}
		return fmt.Sprintf("%"+how+conversion, n)
	default:
		return fmt.Sprintf("%"+how+conversion, n)
	}
}
