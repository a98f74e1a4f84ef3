package checker

import "testing"

func TestEffects(t *testing.T) {
	const none, stale, late = "", "stale-write r x1", "accepted-after-expiry r x1"
	checkRules(t, []ruleCase{
		{"a write within the lease", "c1 acquire 1; ok 1; c1 write 2 =1 of 1; applied 2; expire 1", Options{}, none},
		{"after the expiry", "c1 acquire 1; ok 1; c1 write 2 =1 of 1; expire 1; applied 2", Options{}, late},
		{"turned down after the expiry", "c1 acquire 1; ok 1; c1 write 2 =1 of 1; expire 1; refused 2", Options{}, none},
		{"after the release was called", "c1 acquire 1; ok 1; c1 write 2 =1 of 1; c1 release 3 of 1; applied 2", Options{}, late},
		{"after the crash", "c1 acquire 1; ok 1; c1 write 2 =1 of 1; crash c1; applied 2", Options{}, late},
		{"a read after the expiry", "c1 acquire 1; ok 1; c1 read 2 of 1; expire 1; applied 2 =0", Options{}, none},
		{"under a lease that expired before it was reported", "c1 acquire 1; expire 1; ok 1; c1 write 2 =1 of 1; applied 2", Options{}, late},
		{"in the window that an extend opened again", "c1 acquire 1; ok 1; expire 1; c1 extend 2 of 1; ok 2; c1 write 3 =1 of 1; applied 3", Options{}, none},
		{"between the windows", "c1 acquire 1; ok 1; expire 1; c1 write 2 =1 of 1; c1 extend 3 of 1; applied 2; ok 3", Options{}, late},
		{"a later grant without an effect", "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; c1 write 3 =1 of 1; applied 3", Options{}, late},
		{"a later grant whose effect was turned down", "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; c2 write 3 =2 of 2; refused 3; c1 write 4 =1 of 1; applied 4", Options{}, late},
		{"after a write of a later grant", "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; c2 write 3 =2 of 2; applied 3; c1 write 4 =1 of 1; applied 4", Options{}, stale},
		{"after a read of a later grant", "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; c2 read 3 of 2; applied 3 =0; c1 write 4 =1 of 1; applied 4", Options{}, stale},
		{"after a read of a later grant that has ended too", "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; c2 read 3 of 2; applied 3 =0; expire 2; c1 write 4 =1 of 1; applied 4", Options{}, stale},
		{"of an ended lease after an effect of an earlier grant", "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; expire 2; c1 read 3 of 1; applied 3 =0; c2 write 4 =1 of 2; applied 4", Options{}, late},
		{"later is by return, not by call", "c1 acquire 1; c2 acquire 2; ok 2; expire 2; ok 1; c1 read 3 of 1; applied 3 =0; c2 write 4 =1 of 2; applied 4", Options{}, stale},
		{"before and after an effect of a later grant", "c1 acquire 1; ok 1; expire 1; c2 acquire 2; ok 2; c1 write 3 =1 of 1; applied 3; c2 read 4 of 2; applied 4 =1; c1 write 5 =2 of 1; applied 5; c1 write 6 =3 of 1; applied 6", Options{}, "stale-write r x2, accepted-after-expiry r x1"},
		{"under no grant", "c1 write 1 =1; applied 1", Options{}, none},
		{"an effect that names no operation", "c1 acquire 1; ok 1; expire 1; effect write =1 of 1", Options{}, late},
		{"while another holds but the own lease has not ended", "c1 acquire 1; ok 1; c2 acquire 2; ok 2; c2 write 3 =2 of 2; applied 3; c1 write 4 =1 of 1; applied 4", Options{}, "lease-overlap r x1"},
	})
}

// Who goes by a version may be refused because somebody else has written, which is to no blame of the resource unless that was
// an earlier holder, or nobody.
func TestRefusedVersions(t *testing.T) {
	const (
		two     = "c1 acquire 1; ok 1; c1 read 2 of 1; applied 2 =0; ok 2 =0; expire 1; c2 acquire 3; ok 3; c2 read 4 of 3; applied 4 =0; ok 4 =0; "
		refused = "holder-refused r x1"
	)
	checkRules(t, []ruleCase{
		{"the late write of an earlier holder came first", two + "c1 write 5 =1 of 1; applied 5 upon 2; c2 write 6 =1 of 3; refused 6 upon 4", Options{}, "stale-write r x1, " + refused},
		{"the late write came second", two + "c2 write 6 =1 of 3; applied 6 upon 4; c1 write 5 =1 of 1; refused 5 upon 2", Options{}, ""},
		{"nobody has written", two + "c2 write 6 =1 of 3; refused 6 upon 4", Options{}, refused},
		{"nobody has written since", two + "c1 write 5 =1 of 1; applied 5 upon 2; c2 read 7 of 3; applied 7 =1; ok 7 =1; c2 write 6 =2 of 3; refused 6 upon 7", Options{}, "stale-write r x1, " + refused},
		{"the holder has written", two + "c2 write 6 =1 of 3; applied 6 upon 4; c2 write 7 =1 of 3; refused 7 upon 4", Options{}, ""},
		{"somebody without the lock has written", two + "c3 write 6 =7; applied 6; c2 write 7 =1 of 3; refused 7 upon 4", Options{}, ""},
		{"the version is that of an earlier lease", "c1 acquire 1; ok 1; c1 read 2 of 1; applied 2 =0; ok 2 =0; c1 release 3 of 1; ok 3; c2 acquire 4; ok 4; c2 write 5 =1 of 4; applied 5; c2 release 6 of 4; ok 6; " +
			"c1 acquire 7; ok 7; c1 write 8 =1 of 7 upon 2; refused 8 upon 2", Options{}, ""},
	})
}
