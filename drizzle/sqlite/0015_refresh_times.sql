ALTER TABLE `connections` ADD `refresh_expires_at` integer;--> statement-breakpoint
ALTER TABLE `connections` ADD `refresh_at` integer;--> statement-breakpoint
ALTER TABLE `connections` ADD `unanswered_since` integer;--> statement-breakpoint
CREATE INDEX `connections_refresh_at` ON `connections` (`refresh_at`) WHERE status = 'active' and refresh_at is not null;