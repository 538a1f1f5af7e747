// Package databases knows by their names and their first bytes which files are one
// SQLite database: the file itself, and what a running or killed program leaves beside
// it. Each alone is half of a database, and files of different moments together are a
// damaged one: SQLite puts a log into whatever database lies beside it.
//
// It opens nothing, and must not know what becomes of the files.
package databases
