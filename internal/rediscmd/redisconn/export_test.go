package redisconn

// AsReplied is asReplied, for errors that no real server can be made to give.
var AsReplied = asReplied
