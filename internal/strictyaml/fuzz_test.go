package strictyaml_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"redlocksim/internal/strictyaml"
)

// Whatever the file says, decoding it ends in a value or in errors that can be
// read: each on a line of its own, at a place in the file, in order.
func FuzzDecode(f *testing.F) {
	whole, err := os.ReadFile("testdata/bad.txt")
	if err != nil {
		f.Fatal(err)
	}
	for part := range strings.SplitSeq(string(whole), "\n=== ") {
		_, rest, _ := strings.Cut(part, "\n")
		document, _, _ := strings.Cut(rest, "----\n")
		f.Add([]byte(document))
	}
	for _, document := range []string{
		"", "\x00", "\xff", "\ufeffname: x", "name: x\r\nseed: 1\r", "name: x\u2028seed: y", "a\r:\rb: c: d",
		"&a [*a]", "*a", "<<: *a", "? ? ? a", "- - - -", "? |\n  a\n: b", "name: >-\n  a\n\n  b\n",
		"!<tag:yaml.org,2002:str> a", "%TAG ! tag:x,2000:\n---\n!a b", "...\n...\n", "--- a\n--- b",
		"{a: [b, {c: d}], ? e : f}", "ttl: 1h1m1s1ms1us1ns1", "ttl: -.5.5s", "ttl: '1 sec, 2 µsec'",
		"name: x\nnodes: [{name: a, port: 1_0}, {<<: {}}]\nsteps: [hold: 1s]",
	} {
		f.Add([]byte(document))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var e experiment
		err := strictyaml.Decode("f", data, &e)
		if err == nil {
			if e.Name == "" && !strings.Contains(string(data), "name") {
				t.Error("a required key is neither there nor missed")
			}
			return
		}
		var all strictyaml.Errors
		if !errors.As(err, &all) || len(all) == 0 || len(all) > 21 {
			t.Fatalf("%d errors: %T", len(all), err)
		}
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") +
			strings.Count(string(data), "\u0085") + strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029") + 1
		previous := all[0]
		for _, one := range all {
			if one.Line < 1 || one.Line > lines || one.Column < 1 || one.Column > len(data)+1 || one.Msg == "" {
				t.Errorf("outside of a file of %d lines: %#v", lines, one)
			}
			if one.Line < previous.Line || one.Line == previous.Line && one.Column < previous.Column {
				t.Errorf("%v\nbefore\n%v", previous, one)
			}
			if strings.ContainsAny(one.Error(), "\n\r\x1b\x00") {
				t.Errorf("not one line: %q", one.Error())
			}
			previous = one
		}
	})
}
