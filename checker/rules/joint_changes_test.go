package rules

import (
	"testing"

	"redlocksim/checker"
)

// The keys of a lock on several resources are set, extended and deleted together.
func TestCommandsAboutSeveralKeys(t *testing.T) {
	const said, both = "A carries out what c1 asks for about several keys ", "SET r v PX 9000 on A; SET s v PX 9000 on A; step attempt-started v ,s; "
	tell(t, checker.Conduct, func(t *testing.T) *rig { return newRig(t).only("joint-changes") }, []scene{
		{"one of two is set", "step attempt-started v ,s; SET r v NX PX 9000 on A", said + `for "r" and not for "s"`},
		{"the only one is set", "step attempt-started v; SET r v NX PX 9000 on A", ""},
		{"one of two is extended", both + "PEXPIRE s 20000 on A", said + `for "s" and not for "r"`},
		{"one of two is deleted", both + "DEL r on A", said + `for "r" and not for "s"`},
		{"both are deleted", both + "DEL r s on A", ""},
		{"the other is somebody else's", "SET s w PX 9000 on A; SET r v PX 9000 on A; step attempt-started v ,s; DEL r on A", ""},
	})
}
