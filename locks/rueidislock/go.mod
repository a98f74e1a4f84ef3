module redlocksim/locks/rueidislock

go 1.26.0

require (
	github.com/redis/rueidis v1.0.79
	redlocksim v0.0.0
)

require golang.org/x/sys v0.49.0 // indirect

replace redlocksim => ../..
