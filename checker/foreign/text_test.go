package foreign

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A text means the same in both formats, and only EDN has control characters in it. Here it is the name of a lock that two
// hold; of one that is refused the name is empty.
func TestTexts(t *testing.T) {
	lines := map[Format]string{
		JSON: `{"process":%d,"type":%q,"f":"acquire","lock":%s}`,
		EDN:  `{:process %d, :type %q, :f "acquire", :lock %s}`,
	}
	for _, c := range []struct {
		text string
		name map[Format]string
	}{
		{`"a\"b\\"`, map[Format]string{JSON: `a"b\`, EDN: `a"b\`}},
		{`"\\\\"`, map[Format]string{JSON: `\\`, EDN: `\\`}},
		{`"\n\t\r\b\f\u00e9\uD83D\ude00"`, map[Format]string{JSON: "\n\t\r\b\f\u00e9\U0001f600", EDN: "\n\t\r\b\f\u00e9\U0001f600"}},
		{"\"a\n\tb\"", map[Format]string{EDN: "a\n\tb"}},
		{"\"a\\\n\"", nil},
		{`"\q"`, nil},
		{`"\u12g4"`, nil},
		{`"\ud83d"`, nil},
		{`"\ud83d\u0041"`, nil},
		{"\"\xff\"", nil},
		{"\"\\n\xff\"", nil},
	} {
		for format, line := range lines {
			var history strings.Builder
			for process := range 2 {
				for _, typ := range []string{"invoke", "ok"} {
					fmt.Fprintf(&history, line+"\n", process, typ, c.text)
				}
			}
			r, err := check(strings.NewReader(history.String()), Options{Model: Owner})
			switch name := c.name[format]; {
			case name == "" && !errors.Is(err, ErrSyntax):
				t.Errorf("%s, %q: %+v, %v", format, c.text, r, err)
			case name != "" && (err != nil || len(r.Findings) != 1 || r.Findings[0].Lock != name):
				t.Errorf("%s, %q: %+v, %v", format, c.text, r, err)
			}
		}
	}
}
