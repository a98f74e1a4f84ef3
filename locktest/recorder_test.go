package locktest_test

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// recorder is a test that writes down what it is told, and ends without ending the test that it is in.
type recorder struct {
	rapid.TB // nil: what is not below is not used
	log      strings.Builder
	failed   bool
	skipped  bool
}

type ended struct{}

// record runs a test.
func record(test func(t rapid.TB)) (r *recorder) {
	r = &recorder{}
	defer func() {
		if p := recover(); p != nil && p != any(ended{}) {
			panic(p)
		}
	}()
	test(r)
	return r
}

func (r *recorder) Helper()                        {}
func (r *recorder) Name() string                   { return "Recorded" }
func (r *recorder) Failed() bool                   { return r.failed }
func (r *recorder) Log(args ...any)                { fmt.Fprintln(&r.log, args...) }
func (r *recorder) Logf(format string, a ...any)   { fmt.Fprintf(&r.log, format+"\n", a...) }
func (r *recorder) FailNow()                       { r.failed = true; panic(ended{}) }
func (r *recorder) Errorf(format string, a ...any) { r.Logf(format, a...); r.failed = true }
func (r *recorder) Fatalf(format string, a ...any) { r.Logf(format, a...); r.FailNow() }
func (r *recorder) Skipf(format string, a ...any) {
	r.Logf(format, a...)
	r.skipped = true
	panic(ended{})
}
