package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// atRandom, bySystem and allOrders are the searches that explore makes, by the flag that asks for each.
const (
	atRandom  = ""
	bySystem  = "systematic"
	allOrders = "orders"
)

// searchFlags are the flags that not all searches look at, and those that do.
var searchFlags = []struct {
	name string
	with []string
}{
	{"seeds", []string{atRandom}},
	{"for", []string{atRandom}},
	{"resume", []string{atRandom}},
	{"generation", []string{atRandom}},
	{"clients", []string{atRandom}},
	{"duration", []string{atRandom}},
	{"json", []string{atRandom, bySystem, allOrders}},
	{"workers", []string{atRandom}},
	{"strict", []string{atRandom, bySystem, allOrders}},
	{"junit", []string{atRandom}},
	{"markdown", []string{atRandom}},
	{"beyond", []string{atRandom, bySystem}},
	{"dir", []string{atRandom, bySystem}},
	{"seed", []string{atRandom, bySystem}},
	{"limit", []string{bySystem, allOrders}},
	{"late", []string{allOrders}},
}

// searchOf is the search that flags ask for. It is an error if one is given that this search would not look at.
func searchOf(cmd *cobra.Command) (string, error) {
	asked := atRandom
	for _, name := range []string{bySystem, allOrders} {
		if on, _ := cmd.Flags().GetBool(name); on { // there is such a flag
			if asked != atRandom {
				return "", &failure{exitUsage, fmt.Errorf("--%s and --%s: only one of them can be given", asked, name)}
			}
			asked = name
		}
	}
	for _, f := range searchFlags {
		switch {
		case !cmd.Flags().Changed(f.name) || slices.Contains(f.with, asked):
		case asked == atRandom:
			return "", &failure{exitUsage, fmt.Errorf("--%s: only with --%s", f.name, strings.Join(f.with, " or --"))}
		default:
			return "", &failure{exitUsage, fmt.Errorf("--%s and --%s: only one of them can be given", f.name, asked)}
		}
	}
	return asked, nil
}

// searchDir is the directory of a search that names none.
const searchDir = "redlocksim-explore"

// defaultDir is a directory of its own for each kind of search, so that one after the other do not meet.
func defaultDir(asked string, beyond bool) string {
	dir := searchDir
	if asked == bySystem {
		dir += "-systematic"
	}
	if beyond {
		dir += "-beyond"
	}
	return dir
}
