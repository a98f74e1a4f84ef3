// Package nofailfile keeps rapid from leaving files behind. Test files that use rapid import it for that effect. By default
// rapid writes a failing case to testdata/rapid and runs it first from then on, even after the code has changed; the failure
// prints the flag that repeats it anyway. -rapid.nofailfile=false turns the files on again.
package nofailfile

import (
	"flag"

	_ "pgregory.net/rapid" // has the flag
)

func init() {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
}
