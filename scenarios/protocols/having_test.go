package protocols

import (
	"strings"
	"testing"

	"redlocksim/internal/strictyaml"
)

// The protocols that have a setting are known, and the setting is a key.
func TestHaving(t *testing.T) {
	if len(having) < 20 {
		t.Errorf("%d settings are of some protocols only, there were more", len(having))
	}
	for key, names := range having {
		if key == "" || len(names) == 0 || len(names) == len(All()) {
			t.Errorf("%q is of the protocols %v", key, names)
		}
		for _, name := range names {
			if _, known := Find(name); !known {
				t.Errorf("%s is of a protocol %s, which there is not", key, name)
			}
		}
	}
}

// A setting that a protocol does not have is refused where it stands, and is not written.
func TestSettingsOfOtherProtocols(t *testing.T) {
	for text, want := range map[string]string{
		"{preset: redsync, fencing: true}":                            `f:1:19: protocol redlock-plain has no such setting (only redlock has it) "fencing"`,
		"{cleanup: del}":                                              `f:1:2: protocol redlock has no such setting (only redlock-plain has it) "cleanup"`,
		"{protocol: single, watchdog: true}":                          `f:1:20: protocol single has no such setting (only redisson, redisson-fair and redisson-multi have it) "watchdog"`,
		"{protocol: redlock-plain, cleanup: del, quorum: 3}":          "",
		"{fencing: true, guard: {max-ttl: 10s}, drift: {factor: 1%}}": "",
	} {
		s := Default()
		err := strictyaml.Decode("f", []byte(text), &s)
		if got := errorText(err); got != want {
			t.Errorf("%s: got  %s\nwant %s", text, got, want)
		}
		s.Protocol, s.Preset = "single", ""
		s.Fencing, s.Watchdog, s.Release = true, false, Del
		written, err := strictyaml.Encode(s, Default())
		if err != nil || strings.Contains(string(written), "fencing") || strings.Contains(string(written), "watchdog") || !strings.Contains(string(written), "release: del") {
			t.Errorf("%s: %v", written, err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
