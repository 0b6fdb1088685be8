"""The code repository around a bank; read only."""
