"""Conversations that can be played again: scenario files, replay, differences, pytest plugin.

The pytest plugin is loaded in every test run of a machine where BMO is installed, so this module
imports nothing.
"""
