package wire

import (
	"slices"
	"testing"
)

// TestParse: a command is read whole or not at all, and nothing behind it.
func TestParse(t *testing.T) {
	const command = "*3\r\n$3\r\nset\r\n$0\r\n\r\n$4\r\n\r\n*$\r\n"
	for n := range len(command) {
		if args, size := parse([]byte(command[:n])); size != 0 {
			t.Errorf("%q was read as %q", command[:n], args)
		}
	}
	for _, behind := range []string{"", "*", "*1\r\n"} {
		args, size := parse([]byte(command + behind))
		if !slices.Equal(args, []string{"set", "", "\r\n*$"}) || size != len(command) {
			t.Errorf("%q, %d bytes of %d", args, size, len(command))
		}
	}
	for _, garbage := range []string{"PING\r\n", "*x\r\n", "*-1\r\n", "*1\r\n:1\r\n", "*1\r\n$1\r\nab\r\n"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q was taken", garbage)
				}
			}()
			parse([]byte(garbage))
		}()
	}
}
