ALTER TABLE `authorizations` ADD `poll_at` integer;--> statement-breakpoint
ALTER TABLE `authorizations` ADD `poll_seconds` integer;--> statement-breakpoint
ALTER TABLE `authorizations` ADD `lease_owner` text;--> statement-breakpoint
ALTER TABLE `authorizations` ADD `lease_until` integer;--> statement-breakpoint
CREATE INDEX `authorizations_poll` ON `authorizations` (`poll_at`) WHERE poll_at is not null;