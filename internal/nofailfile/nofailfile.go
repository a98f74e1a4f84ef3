// Package nofailfile keeps rapid from leaving files behind. A property that fails would be written to testdata/rapid and
// run first from then on, also after the code has changed; the failure prints the flag that repeats it. Test files
// of this module that use rapid import it for that alone. -rapid.nofailfile=false still has the files written.
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
