package sessions

// Segmented is an Adapter whose agent goes on in another file, and in the same
// session, where its user takes back what was said: that file begins where the
// user went back to, and names the one that holds what was said before. The files
// before are among the session's side files.
type Segmented interface {
	// Current is the file that the agent goes on in with the session that has the
	// file at path: path itself or, if that is gone, where it is now, while there is
	// none that is newer. Never an older one, which is another conversation.
	Current(env Environ, path string) string
	// Segment is the name by which a later file calls a side file; "" if that is no
	// earlier part of the session itself.
	Segment(side string) string
	// Base reads the first line of a session's file: the conversation is the first
	// length bytes of the file it names, and then what follows this line. It is ""
	// where the session, or what there is of it in another one, begins in the file.
	Base(line []byte) (segment string, length int64)
}
