package main

import (
	"time"

	"github.com/spf13/cobra"

	"redlocksim/reports"
	"redlocksim/search"
	"redlocksim/search/random"
)

func newMerge() *cobra.Command {
	var dir, jsonPath string
	files := fileReportsOf(ciReports)
	var strict, force bool
	cmd := &cobra.Command{
		Use:   "merge DIR…",
		Short: "Merge the shards of a search",
		Long: `Merge the results of all shards of one search. Each DIR is the directory of a
shard that has finished its runs. The findings are copied to a new directory.

` + keepsFiles + `

` + exploreExitHelp,
		Example: `  redlocksim merge shard-1 shard-2 shard-3 --dir results`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			to := newSink(cmd, force, args...)
			if err := to.check(append([]target{file("--json", jsonPath), {"--dir", dir, search.Writes}}, files.targets()...)...); err != nil {
				return err
			}
			start := time.Now()
			summary, err := random.Merge(dir, to.Rules, args...)
			if err != nil {
				return searchError(err)
			}
			searched := &reports.Searched{Summary: summary, Dir: dir, Took: time.Since(start)}
			return searchVerdict(cmd, summary, strict, writeSearch(cmd, &to, searched, jsonPath, &files))
		},
	}
	cmd.Flags().StringVar(&dir, "dir", searchDir, "new directory for the findings of all shards")
	cmd.Flags().StringVar(&jsonPath, "json", "", "write the summary as JSON to this file (- for standard output, and nothing else)")
	addStrict(cmd.Flags(), &strict)
	addForce(cmd.Flags(), &force)
	files.addFlags(cmd.Flags())
	return cmd
}
