// Package documents owns what a record says of a snapshot besides its tree: under which
// rules it was captured (rules.json), what was left out (skipped.json), and what a tree
// cannot hold of its files (modes.json). It writes them and answers questions about them.
//
// It opens no file and knows neither workspaces nor repositories.
package documents
