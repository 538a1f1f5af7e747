package capture

import "github.com/umbra-vcs/umbra/gitstore/secretnames"

// DefaultSizeCap is the size over which a file is not captured, unless
// configured.
const DefaultSizeCap = 64 << 20

// DefaultFileBudget and DefaultByteBudget are what a workspace may hold, unless
// configured: a tree over them is hardly meant (H24: a home directory of 47 GB).
const (
	DefaultFileBudget = 1_000_000
	DefaultByteBudget = 32 << 30
)

// Settings are the limits of captures in one workspace. The zero value means
// the defaults.
type Settings struct {
	// SizeCap is in bytes; a file of exactly that size is captured.
	SizeCap int64
	// FileBudget and ByteBudget limit what one snapshot holds; negative: no
	// limit. A mission's first capture is refused over it; later ones leave out
	// files that are new.
	FileBudget int
	ByteBudget int64
	// Secrets are the patterns of files that are not captured, as of path.Match
	// on the last component; one with slashes is for as many components, and one
	// that begins with a slash for the whole path. A pattern that begins with "!"
	// takes files out again. Nil means secretnames.Defaults; an empty list means none.
	Secrets []string
	// NewSizeCap and NewSecrets leave out more than SizeCap and Secrets do, but
	// only what no snapshot holds yet: for limits that anybody may set who can
	// write to the workspace. 0 means SizeCap.
	NewSizeCap int64
	NewSecrets []string
}

func (s Settings) withDefaults() Settings {
	if s.SizeCap == 0 {
		s.SizeCap = DefaultSizeCap
	}
	if s.FileBudget == 0 {
		s.FileBudget = DefaultFileBudget
	}
	if s.ByteBudget == 0 {
		s.ByteBudget = DefaultByteBudget
	}
	if s.Secrets == nil {
		s.Secrets = secretnames.Defaults()
	}
	if s.NewSizeCap == 0 || s.NewSizeCap > s.SizeCap {
		s.NewSizeCap = s.SizeCap
	}
	return s
}
