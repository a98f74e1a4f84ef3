package sweep

import (
	"redlocksim/internal/jobs"
	"redlocksim/scenarios"
)

// Jobs are the kinds of jobs that a sweep gives to workers, which load lock programs with load.
func Jobs(load scenarios.Loader) []jobs.Served {
	return []jobs.Served{served(cellJobs, load), served(frontierJobs, load)}
}
