module invoices

go 1.26.0

require github.com/go-redsync/redsync/v4 v4.18.1
