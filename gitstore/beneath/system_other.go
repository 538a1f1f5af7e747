//go:build unix && !linux && !darwin

package beneath

func exchangeAt(int, string, int, string) error { return ErrNoExchange }

func renameNoReplaceAt(int, string, int, string) error { return ErrNoExchange }
