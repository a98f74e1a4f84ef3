package sweep

import "redlocksim/internal/jobs"

// Jobs are the kinds of jobs that a sweep gives to workers.
func Jobs() []jobs.Served { return []jobs.Served{cellJobs, frontierJobs} }
