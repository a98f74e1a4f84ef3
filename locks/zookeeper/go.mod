module redlocksim/locks/zookeeper

go 1.26.0

require (
	github.com/go-zookeeper/zk v1.0.4
	redlocksim v0.0.0
)

replace redlocksim => ../..
