//go:build unix && !linux && !darwin

package beneath

func flagsOf(int, string) flags { return flags{} }
