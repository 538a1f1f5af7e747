package capture

import "github.com/umbra-vcs/umbra/gitstore"

// text is how a document of a record holds a path.
type text = gitstore.Text

func texts(list []string) []text {
	out := make([]text, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}

func plain(list []text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = string(t)
	}
	return out
}
