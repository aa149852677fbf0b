"""albert_edu"""
