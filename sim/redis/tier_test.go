package redis

import (
	"testing"

	"redlocksim/redlock/driver"
)

// TestCommandKeyIsStable pins what is drawn for a command, as the kernel's own test does for its keys.
func TestCommandKeyIsStable(t *testing.T) {
	if got := CommandKey(&driver.Command{Value: "v", Op: driver.OpRelease, Round: 2}); got != 0x3bd98286afad719c {
		t.Errorf("%#x", uint64(got))
	}
}
