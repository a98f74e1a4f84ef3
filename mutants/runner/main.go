// Command runner is redlocksim run NAME --tier TIER and nothing else, with the same exit codes: what a mutant is judged by,
// without all that would have to be built for every mutant and does not matter to it.
package main

import (
	"fmt"
	"os"
	"slices"

	"redlocksim/internal/exitcode"
	"redlocksim/scenarios"
)

func main() {
	if len(os.Args) != 5 || os.Args[1] != "run" || os.Args[3] != "--tier" {
		fail(exitcode.Usage, "usage: runner run NAME --tier TIER")
	}
	all := scenarios.Catalogue()
	i := slices.IndexFunc(all, func(s *scenarios.Scenario) bool { return s.Name == os.Args[2] })
	var tier scenarios.Tier
	if err := tier.UnmarshalScalar(os.Args[4]); i < 0 || err != nil {
		fail(exitcode.Usage, fmt.Sprintf("no such scenario or tier: %s, %s", os.Args[2], os.Args[4]))
	}
	r, err := scenarios.Verify(all[i], scenarios.Options{Tier: tier})
	switch {
	case err != nil:
		fail(exitcode.Internal, err)
	case r.Has(scenarios.Safety):
		fail(exitcode.Safety, r.Problems)
	case r.Has(scenarios.Liveness):
		fail(exitcode.Liveness, r.Problems)
	}
}

func fail(code exitcode.Code, why any) {
	fmt.Fprintln(os.Stderr, why)
	os.Exit(code)
}
